import { CopyObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { TransientError } from '../../errors/errors.ts';
import type { ObjectKey } from '../keys.ts';
import type { ObjectHead } from '../object-store.ts';
import { claimFirst, readClaim, type Claim } from './claim.ts';
import { bounded, LONG_REQUEST_MS_MAX, type Bucket } from './client.ts';
import { bareTag, headOf } from './content.ts';
import { assembledName, copyName, incomingName } from './names.ts';
import { isConditionFailed, unlessS3 } from './s3-error.ts';

/** A client that goes on sending other files while we copy is outlasted so often; then somebody looks again later. */
const COPY_TRIES_MAX = 5;

/**
 * Fixes what a client has sent. The upload URL works for an hour and replaces what it sent before, so the file of the
 * job is a copy that no link reaches; the claim says which. A file that was put together from parts needs no copy: the
 * links of its parts died with the upload. Throws what the library throws, and `TransientError`.
 */
export async function bindUpload(bucket: Bucket, key: ObjectKey, maxBytes: number): Promise<ObjectHead | undefined> {
  const claim = await readClaim(bucket, key);
  if (claim) return describeClaim(claim);
  const assembled = await headName(bucket, assembledName(key));
  if (assembled) return describeClaim(await claimFirst(bucket, key, { name: assembledName(key), ...assembled }));
  for (let tries = 1; tries <= COPY_TRIES_MAX; tries += 1) {
    const incoming = await headName(bucket, incomingName(key));
    if (!incoming || incoming.size_bytes > maxBytes) return incoming;
    const name = copyName(key, incoming.etag);
    const etag = await copyIncoming(bucket, key, name, incoming.etag);
    if (etag !== undefined) return describeClaim(await claimFirst(bucket, key, { name, size_bytes: incoming.size_bytes, etag }));
  }
  throw new TransientError('storage', 'a file is being replaced over and over while it is taken over');
}

/** Size and entity tag of an object by its name; undefined when there is none. */
export async function headName(bucket: Bucket, name: string): Promise<ObjectHead | undefined> {
  const answer = await unlessS3(['NotFound', 'NoSuchKey'], bucket.client.send(new HeadObjectCommand({ Bucket: bucket.name, Key: name }), bounded()));
  return answer && headOf(answer);
}

/** What a claim says of its object. */
export function describeClaim({ size_bytes, etag }: Claim): ObjectHead {
  return { size_bytes, etag };
}

/** Entity tag of the copy; undefined when the file was replaced or removed meanwhile. */
async function copyIncoming(bucket: Bucket, key: ObjectKey, name: string, etag: string): Promise<string | undefined> {
  const command = new CopyObjectCommand({
    Bucket: bucket.name,
    Key: name,
    CopySource: `${bucket.name}/${incomingName(key)}`,
    CopySourceIfMatch: `"${etag}"`,
    // Headers that a client chose are not ours to keep.
    MetadataDirective: 'REPLACE',
    ContentType: 'application/octet-stream',
  });
  try {
    const answer = await unlessS3(['NoSuchKey', 'NotFound'], bucket.client.send(command, bounded(LONG_REQUEST_MS_MAX)));
    return answer && bareTag(answer.CopyObjectResult?.ETag);
  } catch (error) {
    if (isConditionFailed(error)) return undefined;
    throw error;
  }
}
