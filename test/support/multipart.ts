import sharp from 'sharp';
import type { JobView } from '../../shared/domain/job-view.ts';
import type { Answer, ErrorBody, TestClient } from './client.ts';
import { fixturePath } from './fixtures.ts';

/** What a start answers (§2.5). */
export type Descriptor = { readonly upload_id: string; readonly part_size: number; readonly parts_expected: number };
/** What is known of a part once it was sent. */
export type SentPart = { readonly part_number: number; readonly etag: string };
/** One URL of `…/parts`. */
export type PartUrl = { readonly part_number: number; readonly url: string; readonly expires_at: string };

/** The multipart upload of one job, step by step as a client makes it (§4.4). */
export class MultipartUpload {
  readonly #client: TestClient;
  readonly #path: string;

  constructor(client: TestClient, job: Pick<JobView, 'id'>) {
    this.#client = client;
    this.#path = `/v1/jobs/${job.id}/uploads/multipart`;
  }

  start(size_bytes: unknown): Promise<Answer<Descriptor & ErrorBody>> {
    return this.#client.send('POST', this.#path, { json: { size_bytes } });
  }

  urls(part_numbers: unknown): Promise<Answer<{ readonly parts: readonly PartUrl[] } & ErrorBody>> {
    return this.#client.send('POST', `${this.#path}/parts`, { json: { part_numbers } });
  }

  async url(partNumber: number): Promise<string> {
    const answer = await this.urls([partNumber]);
    const [part] = answer.status === 200 ? answer.body.parts : [];
    if (!part) throw new Error(`part ${partNumber} has no URL: ${answer.status} ${answer.bytes.toString()}`);
    return part.url;
  }

  /** Sends one part to a URL of its own. */
  async put(partNumber: number, bytes: Uint8Array): Promise<SentPart> {
    const answer = await this.#client.send('PUT', await this.url(partNumber), { body: bytes });
    if (answer.status !== 200) throw new Error(`part ${partNumber} was not taken: ${answer.status} ${answer.bytes.toString()}`);
    return { part_number: partNumber, etag: answer.headers.get('etag') ?? '' };
  }

  /** Starts, and sends a whole file in parts. */
  async send(file: Buffer): Promise<readonly SentPart[]> {
    const { body } = await this.start(file.length);
    const parts: SentPart[] = [];
    for (let number = 1; number <= body.parts_expected; number += 1) {
      parts.push(await this.put(number, file.subarray((number - 1) * body.part_size, number * body.part_size)));
    }
    return parts;
  }

  complete(parts: unknown): Promise<Answer<{ readonly size_bytes: number } & ErrorBody>> {
    return this.#client.send('POST', `${this.#path}/complete`, { json: { parts } });
  }

  abort(): Promise<Answer<ErrorBody | undefined>> {
    return this.#client.send('POST', `${this.#path}/abort`);
  }
}

/** A real photograph as an uncompressed tiff of 27 MB, which is two parts. */
export function makeLargePhoto(): Promise<Buffer> {
  return sharp(fixturePath('IMG_1054.JPG')).resize(3500, 2600, { fit: 'fill' }).removeAlpha().tiff({ compression: 'none' }).toBuffer();
}

/** Status, code and details of an error answer. */
export function outcome(answer: Answer<ErrorBody>): unknown[] {
  return [answer.status, answer.body.error.code, answer.body.error.details];
}

/** Paths of the problems that an answer names. */
export function paths(answer: Answer<ErrorBody>): readonly string[] {
  const issues = (answer.body.error.details?.['issues'] ?? []) as readonly { readonly path: string }[];
  return issues.map(({ path }) => path);
}
