import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, errors, type NatsConnection } from '@nats-io/transport-node';
import { ConfigurationError, TransientError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { toTransient } from './transient.ts';

/** How long a process waits at its start for a server that is starting too, in ms. */
const FIRST_WAIT_MS = 30_000;
/** One attempt to connect, in ms. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Pause between attempts, in ms; a server that comes back sees its clients within it. */
const RECONNECT_WAIT_MS = 250;
/** Random addition to the pause, in ms, so that many clients do not return in the same instant. */
const RECONNECT_JITTER_MS = 250;
/** Pings that find a connection whose other end vanished without a word: noticed after about three of them. */
const PING_INTERVAL_MS = 5_000;
const PINGS_UNANSWERED_MAX = 2;
/** Lowest API level of JetStream that has all we rely on, and the first release that has it. */
const API_LEVEL_FLOOR = 4;
const VERSION_FLOOR = '2.14.0';

/** Where NATS is, and as whom to connect. */
export type NatsOptions = {
  /** `nats://` or `tls://` address, several separated by commas; user and password may stand in it. */
  readonly url: string;
  /** Shown in the server's list of connections. */
  readonly name: string;
  readonly logger: Logger;
  /** Goes before what stands in `url`. */
  readonly user?: string;
  readonly pass?: string;
  /** Prefix of the subjects on which answers arrive; a user with few permissions has one of its own. */
  readonly inboxPrefix?: string;
};

/**
 * Connects, waiting a bounded time for the first connection; from then on reconnects for ever. Throws
 * `TransientError` when no server came up, `ConfigurationError` when the server refuses the user.
 */
export async function connectNats(options: NatsOptions, firstWaitMs: number = FIRST_WAIT_MS): Promise<NatsConnection> {
  const end = performance.now() + firstWaitMs;
  for (;;) {
    try {
      const nc = await connect(toConnectionOptions(options));
      void logStatus(nc, options.logger);
      return nc;
    } catch (error) {
      if (error instanceof errors.AuthorizationError) throw new ConfigurationError(['NATS_URL: the server refuses this user or password']);
      if (performance.now() > end) throw new TransientError('nats', 'no NATS server answers at NATS_URL', { cause: error });
      await delay(RECONNECT_WAIT_MS);
    }
  }
}

/**
 * Makes sure that the server has everything the log relies on (D84): older ones accept what they do not know and
 * ignore it, which would cost events. Throws `ConfigurationError` naming both versions, `TransientError`.
 */
export async function requireServer(nc: NatsConnection): Promise<void> {
  const found = nc.info?.version ?? 'unknown';
  const level = await readApiLevel(nc);
  if (level >= API_LEVEL_FLOOR) return;
  throw new ConfigurationError([`NATS_URL: the server is version ${found}; ${VERSION_FLOOR} or later is needed (JetStream API level ${API_LEVEL_FLOOR}, found ${level})`]);
}

async function readApiLevel(nc: NatsConnection): Promise<number> {
  if (nc.info?.jetstream !== true) throw new ConfigurationError(['NATS_URL: JetStream is not enabled on the server']);
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false });
    // Servers before 2.11 do not know levels.
    return (await manager.getAccountInfo()).api.level ?? 0;
  } catch (error) {
    throw toTransient(error);
  }
}

function toConnectionOptions(options: NatsOptions): Parameters<typeof connect>[0] {
  const urls = options.url.split(',').map((text) => new URL(text.trim()));
  const user = options.user ?? decodeURIComponent(urls.find((url) => url.username !== '')?.username ?? '');
  const pass = options.pass ?? decodeURIComponent(urls.find((url) => url.password !== '')?.password ?? '');
  return {
    servers: urls.map((url) => url.host),
    ...(urls.some((url) => url.protocol === 'tls:') ? { tls: {} } : {}),
    ...(user === '' ? {} : { user, pass }),
    ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
    name: options.name,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    // A server that restarts may refuse users for a moment; that must not end a running process.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    reconnectJitterTLS: RECONNECT_JITTER_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: PINGS_UNANSWERED_MAX,
  };
}

async function logStatus(nc: NatsConnection, logger: Logger): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type === 'disconnect') logger.warn('NATS is away; reconnecting');
    else if (status.type === 'reconnect') logger.info('NATS is back');
    else if (status.type === 'error') logger.warn({ err: status.error }, 'NATS reports an error');
    else if (status.type === 'slowConsumer') logger.warn({ pending: status.pending }, 'a NATS subscription falls behind');
  }
}
