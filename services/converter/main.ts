import { systemClock } from '../../shared/clock/clock.ts';
import { loadSettings } from '../../shared/config/load.ts';
import type { Lane } from '../../shared/domain/catalogue/tools.ts';
import { SPEED_FACTOR } from '../../shared/domain/pricing.ts';
import { runService, type Cleanup } from '../../shared/lifecycle/run-service.ts';
import { createLogger, type Logger } from '../../shared/log/log.ts';
import { untilLogIsRight } from '../../shared/log-state/until-log-is-right.ts';
import { NATS_SETTINGS, openNats } from '../../shared/nats/open.ts';
import { OBJECT_SETTINGS, openObjectStore } from '../../shared/objects/open-store.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { announceTools } from './announce.ts';
import type { Engine } from './engines/engine.ts';
import { createImageEngine } from './engines/image/engine.ts';
import { createMediaEngine } from './engines/media/engine.ts';
import { createOfficeEngine } from './engines/office/engine.ts';
import { createOfficePool } from './engines/office/pool.ts';
import { createPdfEngine } from './engines/pdf/engine.ts';
import { engineFinder, probeTools, readyLanes } from './engines/ready.ts';
import { startLane } from './lane.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { startSimulation } from './simulated/simulation.ts';

/** A result larger than this many times the largest input is a mistake or an attack. */
const RESULT_PER_INPUT_MAX = 2;

/** The setting that says how many conversions of a queue run at once. */
const SLOTS_OF = { images: 'CONVERTER_SLOTS', office: 'CONVERTER_OFFICE_SLOTS', media: 'CONVERTER_MEDIA_SLOTS' } as const satisfies Record<Lane, string>;

/** The setting that says how many seconds a conversion of a queue may take; a film takes longer than anything else. */
const TIMEOUT_OF = { images: 'CONVERSION_TIMEOUT_SECONDS', office: 'CONVERSION_TIMEOUT_SECONDS', media: 'CONVERSION_MEDIA_TIMEOUT_SECONDS' } as const satisfies Record<Lane, string>;

const loadConfig = () =>
  loadSettings(
    process.env,
    [...NATS_SETTINGS, 'MASTER_KEY', 'LOG_LEVEL', ...OBJECT_SETTINGS, 'CONVERTER_SLOTS', 'CONVERTER_OFFICE_SLOTS', 'CONVERTER_MEDIA_SLOTS', 'CONVERTER_ISOLATION', 'CONVERTER_SANDBOX', 'CONVERSION_TIMEOUT_SECONDS', 'CONVERSION_MEDIA_TIMEOUT_SECONDS', 'RESULT_TTL_SECONDS', 'MAX_INPUT_BYTES'],
    ['NATS_URL', 'MASTER_KEY'],
  );

await runService(() => createLogger('converter', loadConfig().LOG_LEVEL), startConverter);

async function startConverter(cleanup: Cleanup, logger: Logger): Promise<void> {
  const config = loadConfig();
  const sandbox = await createSandbox({ mode: config.CONVERTER_SANDBOX });
  for (const warning of sandbox.warnings) logger.warn({ sandbox: sandbox.level }, warning);
  const office = createOfficePool({ slots: config.CONVERTER_OFFICE_SLOTS, isolation: config.CONVERTER_ISOLATION });
  const pictures = createImageEngine();
  const pdf = createPdfEngine(office);
  const engines: readonly Engine[] = [pictures, pdf, createOfficeEngine(office, pdf), createMediaEngine(pictures)];
  for (const engine of engines) cleanup.add(`engine ${engine.name}`, () => engine.stop());
  const tools = await probeTools(engines, sandbox, logger);
  const masterKey = openMasterKey(config.MASTER_KEY);
  const nc = await openNats(config, 'converter', cleanup, logger);
  await untilLogIsRight(nc, logger);
  const context = {
    store: createJetStreamStore(nc),
    objects: await openObjectStore(config, masterKey),
    dataKeys: await openKvDataKeys(nc, masterKey),
    sandbox,
    engineFor: engineFinder(engines, tools),
    clock: systemClock,
    logger,
    resultTtlMs: config.RESULT_TTL_SECONDS * 1000,
    resultBytesMax: config.MAX_INPUT_BYTES * RESULT_PER_INPUT_MAX,
    speedFactor: SPEED_FACTOR,
  };
  for (const lane of readyLanes(context.engineFor)) {
    await startLane(nc, { ...context, lane, timeLimitMs: config[TIMEOUT_OF[lane]] * 1000 }, config[SLOTS_OF[lane]], cleanup);
  }
  await startSimulation({ ...context, nc }, cleanup);
  const announcing = await announceTools(nc, tools, systemClock, logger);
  cleanup.add('announcement', () => announcing.stop());
}
