import { join } from 'node:path';
import { systemClock } from '../../shared/clock/clock.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { runService, type Cleanup } from '../../shared/lifecycle/run-service.ts';
import { createLogger, type Logger } from '../../shared/log/log.ts';
import { untilLogIsRight } from '../../shared/log-state/until-log-is-right.ts';
import { NATS_SETTINGS, openNats } from '../../shared/nats/open.ts';
import { watchAppends } from '../../shared/store/append-watch.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { startLedger } from './ledger.ts';

function readSettings() {
  return loadSettings(process.env, [...NATS_SETTINGS, 'DATA_DIR', 'LOG_LEVEL', 'HOLD_RELEASE_SECONDS', 'ACTIVE_JOB_UPLOAD_GRACE_SECONDS'], ['NATS_URL']);
}

function makeLogger(): Logger {
  return createLogger('ledger', readSettings().LOG_LEVEL);
}

async function start(cleanup: Cleanup, logger: Logger): Promise<void> {
  const settings = readSettings();
  const nc = await openNats(settings, 'ledger', cleanup, logger);
  await untilLogIsRight(nc, logger);
  const appendWatch = watchAppends(nc);
  const parts = {
    nc,
    store: appendWatch.watched(createJetStreamStore(nc)),
    appendWatch,
    clock: systemClock,
    holdReleaseMs: settings.HOLD_RELEASE_SECONDS * 1_000,
    uploadGraceMs: settings.ACTIVE_JOB_UPLOAD_GRACE_SECONDS * 1_000,
    copyFolder: join(settings.DATA_DIR, 'copies'),
  };
  await startLedger(parts, cleanup, logger);
}

await runService(makeLogger, start);
