import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { CompleteMultipartUploadCommand, CreateMultipartUploadCommand, ListPartsCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { Defect, TransientError } from '../../errors/errors.ts';
import { composeEtag } from '../composed-etag.ts';
import { MultipartNotFoundError, ObjectExistsError, PartMismatchError } from '../errors.ts';
import type { ObjectKey } from '../keys.ts';
import type { NamedPart, ObjectHead, PartSize, StoredPart } from '../object-store.ts';
import { describeClaim, headName } from './bind.ts';
import { claimFirst, putIfAbsent, readClaim } from './claim.ts';
import { bounded, LONG_REQUEST_MS_MAX, type Bucket } from './client.ts';
import { bareTag, openObject } from './content.ts';
import { assembledName, incomingName, openUploadName } from './names.ts';
import { dropUpload, removeName } from './remove.ts';
import { s3Code, unlessS3 } from './s3-error.ts';
import { contentMd5, readSpooled, type Spooled } from './spool.ts';

/** Uploads that begin and are dropped at the same moment are outlasted so often. */
const OPEN_TRIES_MAX = 5;
/** Parts of one upload, as S3 has it; ten pages. */
const PARTS_MAX = 10_000;

const openUpload = z.object({ v: z.literal(1), id: z.uuid(), upload_id: z.string().min(1) });

/**
 * The upload in parts that is open. S3 opens as many as it is asked for, so a small object, created on the condition
 * that there is none, says which one counts; whoever came second drops its own. What a process leaves open that dies in
 * between is dropped by the bucket's lifecycle.
 */
export async function openMultipart(bucket: Bucket, key: ObjectKey): Promise<string> {
  for (let tries = 1; tries <= OPEN_TRIES_MAX; tries += 1) {
    const open = await readOpenUpload(bucket, key);
    if (open !== undefined) return open;
    const created = await bucket.client.send(new CreateMultipartUploadCommand({ Bucket: bucket.name, Key: assembledName(key), ContentType: 'application/octet-stream' }), bounded());
    if (created.UploadId === undefined) throw new Defect('the object store opened an upload without an id');
    await putIfAbsent(bucket, openUploadName(key), JSON.stringify({ v: 1, id: randomUUID(), upload_id: created.UploadId }));
    // Read again, not taken from the answer: a request that was sent twice finds its own object in the way.
    const standing = await readOpenUpload(bucket, key);
    if (standing === created.UploadId) return standing;
    await dropUpload(bucket, assembledName(key), created.UploadId);
    if (standing !== undefined) return standing;
  }
  throw new TransientError('storage', 'an upload in parts is dropped whenever it is opened');
}

/** Stores one part. Throws `MultipartNotFoundError`, and what the library throws. */
export async function putPart(bucket: Bucket, key: ObjectKey, uploadId: string, part: PartSize, spooled: Spooled): Promise<StoredPart> {
  const { size_bytes } = spooled.record;
  const body = readSpooled(spooled);
  const command = new UploadPartCommand({
    Bucket: bucket.name,
    Key: assembledName(key),
    UploadId: uploadId,
    PartNumber: part.partNumber,
    Body: body,
    ContentLength: size_bytes,
    ContentMD5: contentMd5(spooled),
  });
  const answer = await unlessS3(['NoSuchUpload'], bucket.client.send(command, bounded(LONG_REQUEST_MS_MAX))).finally(() => body.destroy());
  if (!answer) throw new MultipartNotFoundError();
  return { part_number: part.partNumber, etag: bareTag(answer.ETag), size_bytes };
}

/** Parts of the upload that is open, by number. */
export async function listParts(bucket: Bucket, key: ObjectKey): Promise<readonly StoredPart[]> {
  const uploadId = await readOpenUpload(bucket, key);
  return uploadId === undefined ? [] : ((await partsOf(bucket, key, uploadId)) ?? []);
}

/**
 * Puts the parts together and makes the result the file of the job. What a call that broke off has done already is
 * found again: the file that it put together, or its claim. Throws as the port says.
 */
export async function completeMultipart(bucket: Bucket, key: ObjectKey, parts: readonly NamedPart[]): Promise<ObjectHead> {
  const composed = composeEtag(parts);
  const claim = await readClaim(bucket, key);
  if (claim) {
    if (claim.name !== assembledName(key)) throw new ObjectExistsError();
    if (claim.etag !== composed) throw new MultipartNotFoundError();
    return describeClaim(claim);
  }
  const assembled = (await headName(bucket, assembledName(key))) ?? (await assemble(bucket, key, parts));
  if (assembled.etag !== composed) throw new MultipartNotFoundError();
  const standing = await claimFirst(bucket, key, { name: assembledName(key), ...assembled });
  if (standing.name !== assembledName(key)) throw new ObjectExistsError();
  await removeName(bucket, openUploadName(key));
  return describeClaim(standing);
}

/** Drops the upload that is open. First it is no longer the one that counts, so that nobody is sent to a dropped one. */
export async function abortMultipart(bucket: Bucket, key: ObjectKey): Promise<void> {
  const uploadId = await readOpenUpload(bucket, key);
  if (uploadId === undefined) return;
  await removeName(bucket, openUploadName(key));
  await dropUpload(bucket, assembledName(key), uploadId);
}

async function assemble(bucket: Bucket, key: ObjectKey, parts: readonly NamedPart[]): Promise<ObjectHead> {
  // The single upload was whole before, whether or not somebody has looked at it (D46).
  if (await headName(bucket, incomingName(key))) throw new ObjectExistsError();
  const uploadId = await readOpenUpload(bucket, key);
  const stored = uploadId === undefined ? undefined : await partsOf(bucket, key, uploadId);
  if (uploadId === undefined || !stored) return await findAssembled(bucket, key);
  const etags = new Map(stored.map((part) => [part.part_number, part.etag]));
  for (const part of parts) if (etags.get(part.part_number) !== part.etag) throw new PartMismatchError(part.part_number);
  const named = parts.map((part) => ({ PartNumber: part.part_number, ETag: `"${part.etag}"` }));
  const command = new CompleteMultipartUploadCommand({ Bucket: bucket.name, Key: assembledName(key), UploadId: uploadId, MultipartUpload: { Parts: named } });
  try {
    await bucket.client.send(command, bounded(LONG_REQUEST_MS_MAX));
  } catch (error) {
    // A part was replaced between the look and now; the next look says which.
    if (s3Code(error) === 'InvalidPart') throw new PartMismatchError(parts[0]?.part_number ?? 1);
    if (s3Code(error) !== 'NoSuchUpload') throw error;
  }
  return await findAssembled(bucket, key);
}

/** An upload that is not open any more was completed by a call whose answer was lost, or dropped. */
async function findAssembled(bucket: Bucket, key: ObjectKey): Promise<ObjectHead> {
  const assembled = await headName(bucket, assembledName(key));
  if (!assembled) throw new MultipartNotFoundError();
  return assembled;
}

async function readOpenUpload(bucket: Bucket, key: ObjectKey): Promise<string | undefined> {
  const found = await unlessS3(['NoSuchKey'], openObject(bucket, openUploadName(key)));
  if (!found) return undefined;
  const parsed = openUpload.safeParse(JSON.parse(await text(found.body)));
  if (!parsed.success) throw new Defect('the note of an open upload is damaged');
  return parsed.data.upload_id;
}

/** Undefined when the upload is not open. */
async function partsOf(bucket: Bucket, key: ObjectKey, uploadId: string): Promise<readonly StoredPart[] | undefined> {
  const parts: StoredPart[] = [];
  for (let marker: string | undefined; parts.length < PARTS_MAX; ) {
    const command = new ListPartsCommand({ Bucket: bucket.name, Key: assembledName(key), UploadId: uploadId, ...(marker === undefined ? {} : { PartNumberMarker: marker }) });
    const page = await unlessS3(['NoSuchUpload'], bucket.client.send(command, bounded()));
    if (!page) return undefined;
    for (const { PartNumber, ETag, Size } of page.Parts ?? []) parts.push({ part_number: PartNumber ?? 0, etag: bareTag(ETag), size_bytes: Size ?? 0 });
    if (page.IsTruncated !== true) break;
    marker = page.NextPartNumberMarker;
  }
  return parts.toSorted((a, b) => a.part_number - b.part_number);
}
