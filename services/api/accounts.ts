import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { AccountsCopy } from '../../shared/accounts/accounts-copy.ts';
import { TransientError } from '../../shared/errors/errors.ts';
import type { Logger } from '../../shared/log/log.ts';
import { STREAM_OF } from '../../shared/store/subjects.ts';

/** How long a start waits for the copy of the keys, in ms; a million events take a few seconds. */
const FILL_MS_MAX = 30_000;

/**
 * Opens the local copy of the keys and waits until it has everything that is in the log now: a key that exists must
 * never get 401 (D4). Throws `TransientError` when that takes too long.
 */
export async function openAccounts(nc: NatsConnection, dataFolder: string, logger: Logger): Promise<AccountsCopy> {
  const accounts = await AccountsCopy.open(nc, logger, join(dataFolder, 'copies'));
  const manager = await jetstreamManager(nc, { checkAPI: false });
  const { state } = await manager.streams.info(STREAM_OF.account);
  if (await accounts.reader.waitFor(state.last_seq, FILL_MS_MAX)) return accounts;
  await accounts.stop();
  throw new TransientError('nats', 'the copy of the API keys does not fill');
}
