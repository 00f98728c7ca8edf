import { setTimeout as delay } from 'node:timers/promises';
import { TransientError } from '../../../shared/errors/errors.ts';

/** How long a client waits for the object store where its answer does not depend on it, in ms. */
const STORE_MS_MAX = 2_000;

/** What the object store answers, for those who would rather go on without. Throws `TransientError` when it takes too long. */
export async function inTime<Result>(asked: Promise<Result>): Promise<Result> {
  const patience = new AbortController();
  const tooLong = delay(STORE_MS_MAX, undefined, { signal: patience.signal }).then(() => {
    throw new TransientError('storage', 'the object store did not answer in time');
  });
  try {
    return await Promise.race([asked, tooLong]);
  } finally {
    patience.abort();
  }
}
