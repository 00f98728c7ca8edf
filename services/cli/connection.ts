import type { NatsConnection } from '@nats-io/transport-node';
import { AccountsCopy } from '../../shared/accounts/accounts-copy.ts';
import type { AccountsContext } from '../../shared/accounts/manage.ts';
import { systemClock } from '../../shared/clock/clock.ts';
import { findService, type ServiceAddresses } from '../../shared/config/find-service.ts';
import { TransientError } from '../../shared/errors/errors.ts';
import { createLogger, type Logger } from '../../shared/log/log.ts';
import { connectNats, requireServer } from '../../shared/nats/connect.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { jetstreamManager } from '@nats-io/jetstream';

/** A command waits so long for NATS, in ms; the operator sits in front of it. */
const CONNECT_MS_MAX = 5_000;
/** How long a command reads the accounts before it gives up, in ms. */
const ACCOUNTS_MS_MAX = 30_000;

/** What commands work with. */
export type Connection = AccountsContext & { readonly nc: NatsConnection; readonly logger: Logger; readonly service: ServiceAddresses };

/** Connects to the running service, does the work, disconnects. Throws `ConfigurationError`, `TransientError`. */
export async function withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const service = findService(process.env);
  const logger = createLogger('cli', 'silent');
  const nc = await connectNats({ url: service.natsUrl, name: 'cli', logger }, CONNECT_MS_MAX);
  try {
    await requireServer(nc);
    const dataKeys = await openKvDataKeys(nc, openMasterKey(service.masterKey));
    return await work({ nc, logger, service, dataKeys, store: createJetStreamStore(nc), clock: systemClock });
  } finally {
    await nc.close();
  }
}

/** Reads all accounts up to now into memory, does the work, forgets them. */
export async function withAccounts<T>(connection: Connection, work: (accounts: AccountsCopy) => Promise<T>): Promise<T> {
  const accounts = await AccountsCopy.open(connection.nc, connection.logger);
  try {
    const { state } = await (await jetstreamManager(connection.nc, { checkAPI: false })).streams.info('ACCOUNTS');
    if (!(await accounts.reader.waitFor(state.last_seq, ACCOUNTS_MS_MAX))) throw new TransientError('nats', 'the accounts could not be read in time');
    return await work(accounts);
  } finally {
    await accounts.stop();
  }
}
