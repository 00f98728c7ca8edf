import { systemClock } from '../../shared/clock/clock.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { EGRESS_SETTINGS, openEgress } from '../../shared/egress/open-egress.ts';
import { runService, type Cleanup } from '../../shared/lifecycle/run-service.ts';
import { createLogger, type Logger } from '../../shared/log/log.ts';
import { untilLogIsRight } from '../../shared/log-state/until-log-is-right.ts';
import { NATS_SETTINGS, openNats } from '../../shared/nats/open.ts';
import { OBJECT_SETTINGS, openObjectStore } from '../../shared/objects/open-store.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { startImporter } from './importer.ts';

const loadConfig = () =>
  loadSettings(process.env, [...NATS_SETTINGS, ...OBJECT_SETTINGS, 'MASTER_KEY', 'LOG_LEVEL', 'SINGLE_UPLOAD_MAX_BYTES', 'MAX_INPUT_BYTES', ...EGRESS_SETTINGS, 'IMPORTER_SLOTS', 'CLEAN_AGAIN_SECONDS'], ['NATS_URL', 'MASTER_KEY']);

await runService(() => createLogger('importer', loadConfig().LOG_LEVEL), start);

async function start(cleanup: Cleanup, logger: Logger): Promise<void> {
  const config = loadConfig();
  const masterKey = openMasterKey(config.MASTER_KEY);
  const egress = openEgress(config, logger);
  const nc = await openNats(config, 'importer', cleanup, logger);
  await untilLogIsRight(nc, logger);
  const context = {
    nc,
    store: createJetStreamStore(nc),
    objects: await openObjectStore(config, masterKey),
    dataKeys: await openKvDataKeys(nc, masterKey),
    clock: systemClock,
    logger,
    singleUploadBytesMax: Math.min(config.SINGLE_UPLOAD_MAX_BYTES, config.MAX_INPUT_BYTES),
    inputBytesMax: config.MAX_INPUT_BYTES,
    fetchesMax: config.IMPORTER_SLOTS,
    egress,
    cleanAgainMs: config.CLEAN_AGAIN_SECONDS * 1000,
  };
  await startImporter(context, cleanup);
}
