import { loadSettings } from '../shared/config/load.ts';
import { runService } from '../shared/lifecycle/run-service.ts';
import { createLogger } from '../shared/log/log.ts';
import { connectNats, requireServer } from '../shared/nats/connect.ts';
import { startProjections } from './runner.ts';

const readSettings = () => loadSettings(process.env, ['NATS_URL', 'DATABASE_URL', 'LOG_LEVEL'], ['NATS_URL', 'DATABASE_URL']);

await runService(
  () => createLogger('projections', readSettings().LOG_LEVEL),
  async (cleanup, logger) => {
    const settings = readSettings();
    const nc = await connectNats({ url: settings.NATS_URL, name: 'projections', logger });
    cleanup.add('NATS', () => nc.close());
    await requireServer(nc);
    const projections = await startProjections(nc, { databaseUrl: settings.DATABASE_URL, logger });
    cleanup.add('projections', () => projections.stop());
  },
);
