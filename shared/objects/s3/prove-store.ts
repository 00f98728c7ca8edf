import { randomUUID } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { systemClock } from '../../clock/clock.ts';
import { TransientError } from '../../errors/errors.ts';
import { sourceKey } from '../keys.ts';
import { putIfAbsent } from './claim.ts';
import { REQUEST_MS_MAX, type Bucket } from './client.ts';
import { folderOf, incomingName, writtenName } from './names.ts';
import { listNames, removeName } from './remove.ts';
import { signPut, type Signer } from './sign.ts';

/** The links that are tried out work for so long, in ms; they are used at once. */
const LINK_MS = 60_000;
/** The group of all who have no key, as S3 names it. */
const EVERYBODY = 'http://acs.amazonaws.com/groups/global/AllUsers';
/** A policy that was just written may take a moment to count everywhere; so often it is tried. */
const REFUSAL_TRIES_MAX = 5;

/**
 * Tries out what the service relies on, with objects of a job that does not exist, and answers in sentences what the
 * store does not keep. Throws what the library throws, and
 * `TransientError`.
 */
export async function proveStore(bucket: Bucket, signing: S3Client): Promise<readonly string[]> {
  const key = sourceKey(randomUUID());
  const signer: Signer = { client: signing, bucket: bucket.name, uploadSeconds: LINK_MS / 1000 };
  const victim = writtenName(key, 'victim');
  const problems: string[] = [];
  try {
    await putIfAbsent(bucket, victim, '{}');
    if (await putIfAbsent(bucket, victim, '{}')) problems.push('The store overwrites an object that it was told only to create (If-None-Match): two uploads of one job could both win.');
    if ((await put(signer, incomingName(key), {})) !== 200) problems.push('The store refuses an upload by a signed link.');
    for (const [header, value, harm] of [
      ['x-amz-copy-source', `/${bucket.name}/${victim}`, 'whoever has an upload link can read other objects'],
      ['x-amz-acl', 'public-read', 'whoever has an upload link can make the file public'],
      ['x-amz-grant-read', `uri="${EVERYBODY}"`, 'whoever has an upload link can make the file public'],
    ] as const) {
      if (!(await isRefused(signer, incomingName(key), { [header]: value }))) problems.push(`The store obeys the header ${header} although the link was not signed with it: ${harm}.`);
    }
    return problems;
  } finally {
    for await (const { name } of listNames(bucket, folderOf(key))) await removeName(bucket, name);
  }
}

async function isRefused(signer: Signer, name: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
  for (let tries = 1; tries <= REFUSAL_TRIES_MAX; tries += 1) {
    const status = await put(signer, name, headers);
    if (status >= 400 && status < 500) return true;
  }
  return false;
}

async function put(signer: Signer, name: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const url = await signPut(signer, name, { expiresAtMs: systemClock.nowMs() + LINK_MS });
  const response = await fetch(url, { method: 'PUT', headers, body: 'x', signal: AbortSignal.timeout(REQUEST_MS_MAX) }).catch(() => {
    throw new TransientError('storage', 'the object store did not answer a signed link');
  });
  await response.arrayBuffer();
  return response.status;
}
