import { createHash } from 'node:crypto';
import { normalizeFormat } from '../../shared/domain/catalogue/formats.ts';
import { Defect } from '../../shared/errors/errors.ts';
import type { EventData } from '../../shared/events/registry.ts';
import type { ObjectKey } from '../../shared/objects/keys.ts';
import type { ObjectHead, ObjectRecord, ObjectStore } from '../../shared/objects/object-store.ts';
import { matchesDeclared, SNIFF_BYTES } from '../../shared/objects/sniff/heads.ts';

type JobError = EventData<'job.failed'>['error'];

/** What the file of a job turned out to be. */
export type Inspection =
  | { readonly kind: 'good'; readonly source: EventData<'job.source_received'> }
  | { readonly kind: 'bad'; readonly error: JobError };

/**
 * What the file must be: of this format, or of any when there is none (a test job, D65), and no longer than `maxBytes`.
 * `stored`: what is known of it already.
 */
export type SourceTerms = { readonly inputFormat?: string; readonly maxBytes: number; readonly stored?: ObjectRecord };

/**
 * Looks at the source of a job, which was found with this size and entity tag, cheapest check first: has it a right
 * size, does it begin as its format does; only then is all of it hashed. Every read names the entity tag, so that all of
 * them see one file. Throws `ObjectNotFoundError` and `ObjectChangedError` when it is gone or replaced meanwhile, `TransientError`.
 */
export async function inspectSource(objects: ObjectStore, key: ObjectKey, head: ObjectHead, terms: SourceTerms): Promise<Inspection> {
  if (head.size_bytes === 0) return bad({ code: 'internal', reason: 'system_error', cause: 'empty_file' });
  if (head.size_bytes > terms.maxBytes) return bad({ code: 'file_too_large', max_bytes: terms.maxBytes });
  if (terms.inputFormat !== undefined && !(await beginsAs(objects, key, head, terms.inputFormat))) return bad({ code: 'internal', reason: 'system_error', cause: 'not_what_it_claims' });
  // Whoever stored the file itself has its hash already.
  const sha256 = terms.stored?.etag === head.etag ? terms.stored.sha256 : await hashAll(objects, key, head);
  return { kind: 'good', source: { size_bytes: head.size_bytes, sha256, etag: head.etag } };
}

async function beginsAs(objects: ObjectStore, key: ObjectKey, head: ObjectHead, inputFormat: string): Promise<boolean> {
  const format = normalizeFormat(inputFormat);
  if (!format) throw new Defect(`the catalogue has no format ${inputFormat}`);
  return matchesDeclared(await readStart(objects, key, head), format);
}

async function readStart(objects: ObjectStore, key: ObjectKey, head: ObjectHead): Promise<Buffer> {
  const end = Math.min(SNIFF_BYTES, head.size_bytes) - 1;
  const chunks: Buffer[] = [];
  for await (const chunk of await objects.read(key, { ifMatch: head.etag, range: { start: 0, end } })) chunks.push(toBuffer(chunk));
  return Buffer.concat(chunks);
}

async function hashAll(objects: ObjectStore, key: ObjectKey, head: ObjectHead): Promise<string> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of await objects.read(key, { ifMatch: head.etag })) {
    const bytes = toBuffer(chunk);
    hash.update(bytes);
    sizeBytes += bytes.length;
  }
  if (sizeBytes !== head.size_bytes) throw new Defect('the object store gave another number of bytes than it named');
  return hash.digest('hex');
}

/** A `Readable` promises nothing about its chunks; those of an object store are bytes. */
function toBuffer(chunk: unknown): Buffer {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  throw new Defect('an object was read as something else than bytes');
}

function bad(error: JobError): Inspection {
  return { kind: 'bad', error };
}
