import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { Defect, TransientError } from '../../errors/errors.ts';
import type { ObjectHead, ObjectRecord } from '../object-store.ts';
import type { ByteRange } from '../range.ts';
import { LONG_REQUEST_MS_MAX, type Bucket } from './client.ts';
import { translateS3Error } from './s3-error.ts';

/** An object of the bucket that is being read. */
export type OpenObject = { readonly head: ObjectHead; readonly body: Readable };

/** Which bytes of which object are meant. */
export type Wanted = { readonly ifMatch?: string; readonly range?: ByteRange };

/** Opens an object. The caller reads the body to its end or destroys it. Throws what the library throws. */
export async function openObject(bucket: Bucket, name: string, wanted: Wanted = {}): Promise<OpenObject> {
  const { ifMatch, range } = wanted;
  // Bounds the time until the answer begins; after that the connection may not stand still.
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), LONG_REQUEST_MS_MAX);
  try {
    const answer = await bucket.client.send(
      new GetObjectCommand({
        Bucket: bucket.name,
        Key: name,
        ...(ifMatch === undefined ? {} : { IfMatch: `"${ifMatch}"` }),
        ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }),
      }),
      { abortSignal: patience.signal },
    );
    if (!(answer.Body instanceof Readable)) throw new Defect('the object store gave no stream');
    return { head: headOf(answer), body: whole(answer.Body, answer.ContentLength ?? 0) };
  } finally {
    clearTimeout(timer);
  }
}

/** Size and bare entity tag out of an answer. */
export function headOf(answer: { readonly ContentLength?: number | undefined; readonly ETag?: string | undefined }): ObjectHead {
  return { size_bytes: answer.ContentLength ?? 0, etag: bareTag(answer.ETag) };
}

/** An entity tag without its quotes. Throws `Defect` when there is none. */
export function bareTag(etag: string | undefined): string {
  if (etag === undefined) throw new Defect('the object store named no entity tag');
  return etag.replaceAll('"', '');
}

/** Copies an object into a file that must not exist yet; it is gone again when this throws. */
export async function fillNewFile(path: string, object: OpenObject): Promise<ObjectRecord> {
  const target = await open(path, 'wx').catch((error: unknown) => {
    object.body.destroy();
    throw localError(error);
  });
  try {
    const sha256 = createHash('sha256');
    for await (const chunk of object.body) {
      const bytes = asBytes(chunk);
      sha256.update(bytes);
      await target.writeFile(bytes).catch((error: unknown) => {
        throw localError(error);
      });
    }
    return { ...object.head, sha256: sha256.digest('hex') };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await target.close();
  }
}

/** Passes a body on. It fails when it breaks off or ends early, as an outage does and not as an error of the library. */
function whole(body: Readable, sizeBytes: number): Readable {
  const passOn = async function* (): AsyncGenerator<Uint8Array> {
    let passed = 0;
    try {
      for await (const chunk of body) {
        const bytes = asBytes(chunk);
        passed += bytes.length;
        yield bytes;
      }
    } catch (error) {
      throw translateS3Error(error);
    } finally {
      body.destroy();
    }
    if (passed !== sizeBytes) throw new TransientError('storage', 'the object store ended an answer early');
  };
  const stream = Readable.from(passOn(), { objectMode: false });
  // A stream that is destroyed before anybody read it never comes to the line above that ends the connection.
  stream.once('close', () => body.destroy());
  return stream;
}

function localError(error: unknown): TransientError {
  return new TransientError('storage', 'a local copy of an object cannot be written', { cause: error });
}

function asBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new Defect('an object was read as something else than bytes');
}
