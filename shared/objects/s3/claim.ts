import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { Defect, TransientError } from '../../errors/errors.ts';
import { etag, sha256, sizeBytes } from '../../events/fields.ts';
import type { ObjectKey } from '../keys.ts';
import { parseJson } from '../../json/parse-json.ts';
import { bounded, type Bucket } from './client.ts';
import { openObject } from './content.ts';
import { claimName, folderOf } from './names.ts';
import { isConditionFailed, unlessS3 } from './s3-error.ts';

/** A claim that somebody else writes at the same moment is looked at so often before we give up. */
const CLAIM_TRIES_MAX = 5;

const claimSchema = z.object({ v: z.literal(1), id: z.uuid(), name: z.string().min(1), size_bytes: sizeBytes, etag, sha256: sha256.optional() });

/** Which object of the bucket is the file of a job, and what is known of it. */
export type Claim = z.infer<typeof claimSchema>;

/** The object of a key that is written once; undefined while there is none. */
export async function readClaim(bucket: Bucket, key: ObjectKey): Promise<Claim | undefined> {
  const found = await unlessS3(['NoSuchKey'], openObject(bucket, claimName(key)));
  if (!found) return undefined;
  const parsed = claimSchema.safeParse(parseJson(await text(found.body)));
  if (!parsed.success || !parsed.data.name.startsWith(folderOf(key))) throw new Defect('the claim of a source is damaged');
  return parsed.data;
}

/**
 * Makes an object the file of its job, unless another one is already, and answers the claim that stands. A store
 * creates an object on the condition that there is none, which is the one atomic step that every S3 store offers; thus
 * the first complete file stays (D46), whichever way it came and however many processes saw it at once.
 */
export async function claimFirst(bucket: Bucket, key: ObjectKey, object: Omit<Claim, 'v' | 'id'>): Promise<Claim> {
  const claim: Claim = { v: 1, id: randomUUID(), ...object };
  for (let tries = 1; tries <= CLAIM_TRIES_MAX; tries += 1) {
    if (await putIfAbsent(bucket, claimName(key), JSON.stringify(claim))) return claim;
    const standing = await readClaim(bucket, key);
    // None: the other request has not finished, or the job was cleaned in between.
    if (standing) return standing;
  }
  throw new TransientError('storage', 'the file of a job is being decided on for too long');
}

/** Creates a small object. False when there is one already. */
export async function putIfAbsent(bucket: Bucket, name: string, body: string): Promise<boolean> {
  try {
    await bucket.client.send(new PutObjectCommand({ Bucket: bucket.name, Key: name, Body: body, ContentType: 'application/json', IfNoneMatch: '*' }), bounded());
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    throw error;
  }
}
