import type { NatsConnection } from '@nats-io/transport-node';
import { isLogBehind } from '../../projections/answer-log-state.ts';
import { migrate } from '../../projections/migrate.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats, requireServer } from '../../shared/nats/connect.ts';
import { requireDurability } from '../../shared/nats/open.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { applyStreams, describeDifference } from '../../streams/apply.ts';
import { createDemo } from './demo.ts';
import { demoFilePath } from './welcome.ts';

/** What the standalone edition knows once its servers run. */
export interface PrepareSettings {
  readonly dataFolder: string;
  /** Address of the service without `/v1`. */
  readonly publicUrl: string;
  readonly natsUrl: string;
  /** Undefined for a server of the operator's own whose monitoring address is not known. */
  readonly natsMonitorUrl: string | undefined;
  readonly databaseUrl: string;
  /** 32 bytes in base64. */
  readonly masterKey: string;
  readonly natsReplicas: number;
  /** What to do about a server that acknowledges before it syncs to disk (D84). */
  readonly durabilityCheck: 'warn' | 'refuse';
  readonly say: (line: string) => void;
}

/** Makes an empty installation ready for the services; on a later start it brings it up to date. */
export async function prepare(settings: PrepareSettings): Promise<void> {
  const masterKey = openMasterKey(settings.masterKey);
  await migrate(settings.databaseUrl, () => undefined);
  const nc = await connectNats({ url: settings.natsUrl, name: 'standalone', logger: createLogger('standalone', 'silent') });
  try {
    await requireServer(nc);
    await requireDurability(nc, { NATS_MONITOR_URL: settings.natsMonitorUrl, DURABILITY_CHECK: settings.durabilityCheck }, (problem) => settings.say(`WARNING: ${problem}.`));
    const differences = await applyStreams(nc, { replicas: settings.natsReplicas, log: () => undefined });
    const left = differences.filter(({ action }) => action === 'leave');
    for (const line of left.flatMap(describeDifference)) settings.say(`WARNING: streams: ${line}`);
    // Into a log that may be exchanged again nothing is written.
    if (!(await isOldLog(nc, settings.databaseUrl))) await createDemo(nc, { masterKey, file: demoFilePath(settings.dataFolder), publicUrl: settings.publicUrl });
  } finally {
    await nc.close();
  }
}

async function isOldLog(nc: NatsConnection, databaseUrl: string): Promise<boolean> {
  const pool = createPool(databaseUrl, createLogger('standalone', 'silent'));
  try {
    return await isLogBehind(nc, pool);
  } finally {
    await pool.end();
  }
}
