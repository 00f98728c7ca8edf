import { loadSettings } from '../shared/config/load.ts';
import { runService } from '../shared/lifecycle/run-service.ts';
import { createLogger } from '../shared/log/log.ts';
import { serveHealth } from '../shared/lifecycle/serve-health.ts';
import { connectNats, requireServer } from '../shared/nats/connect.ts';
import { createPool } from '../shared/postgres/pool.ts';
import { answerLogState } from './answer-log-state.ts';
import { startProjections } from './runner.ts';

const readSettings = () => loadSettings(process.env, ['NATS_URL', 'DATABASE_URL', 'LOG_LEVEL', 'HEALTH_PORT'], ['NATS_URL', 'DATABASE_URL']);

await runService(
  () => createLogger('projections', readSettings().LOG_LEVEL),
  async (cleanup, logger) => {
    const settings = readSettings();
    const nc = await connectNats({ url: settings.NATS_URL, name: 'projections', logger });
    cleanup.add('NATS', () => nc.close());
    await requireServer(nc);
    if (settings.HEALTH_PORT !== undefined) await serveHealth(settings.HEALTH_PORT, () => nc.flush(), cleanup);
    const pool = createPool(settings.DATABASE_URL, logger, 'log state');
    cleanup.add('Postgres', () => pool.end());
    const answering = answerLogState(nc, pool, logger);
    cleanup.add('answers about the log', () => answering.stop());
    const projections = await startProjections(nc, { databaseUrl: settings.DATABASE_URL, logger });
    cleanup.add('projections', () => projections.stop());
  },
);
