import type { NatsConnection } from '@nats-io/transport-node';
import type { Settings } from '../config/settings.ts';
import { ConfigurationError } from '../errors/errors.ts';
import type { Cleanup } from '../lifecycle/run-service.ts';
import { serveHealth } from '../lifecycle/serve-health.ts';
import type { Logger } from '../log/log.ts';
import { connectNats, requireServer } from './connect.ts';
import { checkDurability } from './durability.ts';

/** Settings of every process that talks to NATS. */
export const NATS_SETTINGS = ['NATS_URL', 'NATS_MONITOR_URL', 'DURABILITY_CHECK', 'HEALTH_PORT'] as const;

/** Those settings, with the address there. */
export type NatsSettings = Settings<'NATS_MONITOR_URL' | 'DURABILITY_CHECK' | 'HEALTH_PORT'> & { readonly NATS_URL: string };

/**
 * Connects a service: the server must have what the log relies on, and must sync before it acknowledges (D84), or the
 * service warns loudly or refuses, as `DURABILITY_CHECK` says. From then on it answers on `HEALTH_PORT` if it has one,
 * there also with its `metrics` where it has some. Throws `ConfigurationError`, `TransientError`.
 */
export async function openNats(settings: NatsSettings, name: string, cleanup: Cleanup, logger: Logger, metrics?: () => string): Promise<NatsConnection> {
  const nc = await connectNats({ url: settings.NATS_URL, name, logger });
  cleanup.add('nats', () => nc.drain());
  await requireServer(nc);
  await requireDurability(nc, settings, (warning) => logger.warn(warning));
  if (settings.HEALTH_PORT !== undefined) await serveHealth(settings.HEALTH_PORT, () => nc.flush(), cleanup, metrics);
  return nc;
}

/** Tells `warn` when acknowledged events may be lost by a power cut; throws `ConfigurationError` when that is refused. */
export async function requireDurability(nc: NatsConnection, settings: Settings<'NATS_MONITOR_URL' | 'DURABILITY_CHECK'>, warn: (sentence: string) => void): Promise<void> {
  const durability = await checkDurability(nc, settings.NATS_MONITOR_URL?.split(','));
  if (durability === 'synced') return;
  const problem =
    durability === 'not_synced'
      ? 'the NATS server acknowledges events before they are on the disk: a power cut can lose jobs and charges. Set "sync_interval: always" in its jetstream block'
      : 'the NATS server cannot be asked whether it syncs every event to disk. Set NATS_MONITOR_URL to its monitoring address';
  if (settings.DURABILITY_CHECK === 'refuse') throw new ConfigurationError([`NATS_URL: ${problem}, or set DURABILITY_CHECK=warn.`]);
  warn(problem);
}
