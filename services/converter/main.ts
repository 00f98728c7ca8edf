import { systemClock } from '../../shared/clock/clock.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { startWorker } from '../../shared/consume/worker.ts';
import { findPair, normalizeFormat } from '../../shared/domain/formats.ts';
import { SPEED_FACTOR } from '../../shared/domain/pricing.ts';
import { runService, type Cleanup } from '../../shared/lifecycle/run-service.ts';
import { createLogger, type Logger } from '../../shared/log/log.ts';
import { untilLogIsRight } from '../../shared/log-state/until-log-is-right.ts';
import { NATS_SETTINGS, openNats } from '../../shared/nats/open.ts';
import { OBJECT_SETTINGS, openObjectStore } from '../../shared/objects/open-store.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import type { ReadyEngine } from './context.ts';
import { createImageEngine } from './engines/image/engine.ts';
import { createSandbox, type Sandbox } from './sandbox/sandbox.ts';
import { startSimulation } from './simulated/simulation.ts';
import { convertJob } from './worker.ts';

/** A result larger than this many times the largest input is a mistake or an attack. */
const RESULT_PER_INPUT_MAX = 2;

const loadConfig = () =>
  loadSettings(
    process.env,
    [...NATS_SETTINGS, 'MASTER_KEY', 'LOG_LEVEL', ...OBJECT_SETTINGS, 'CONVERTER_SLOTS', 'CONVERTER_SANDBOX', 'CONVERSION_TIMEOUT_SECONDS', 'RESULT_TTL_SECONDS', 'MAX_INPUT_BYTES'],
    ['NATS_URL', 'MASTER_KEY'],
  );

await runService(() => createLogger('converter', loadConfig().LOG_LEVEL), startConverter);

async function startConverter(cleanup: Cleanup, logger: Logger): Promise<void> {
  const config = loadConfig();
  const sandbox = await createSandbox({ mode: config.CONVERTER_SANDBOX });
  for (const warning of sandbox.warnings) logger.warn({ sandbox: sandbox.level }, warning);
  const engines = await readyEngines(sandbox, logger);
  const masterKey = openMasterKey(config.MASTER_KEY);
  const nc = await openNats(config, 'converter', cleanup, logger);
  await untilLogIsRight(nc, logger);
  const context = {
    store: createJetStreamStore(nc),
    objects: await openObjectStore(config, masterKey),
    dataKeys: await openKvDataKeys(nc, masterKey),
    sandbox,
    engines,
    running: new Set<string>(),
    clock: systemClock,
    logger,
    resultTtlMs: config.RESULT_TTL_SECONDS * 1000,
    timeLimitMs: config.CONVERSION_TIMEOUT_SECONDS * 1000,
    resultBytesMax: config.MAX_INPUT_BYTES * RESULT_PER_INPUT_MAX,
    speedFactor: SPEED_FACTOR,
  };
  const worker = await startWorker(nc, { stream: 'JOBS', durable: 'converter-images', slots: config.CONVERTER_SLOTS, handle: (message, signal) => convertJob(context, message, signal) }, logger);
  cleanup.add('worker', () => worker.stop());
  await startSimulation({ ...context, nc }, cleanup);
}

/** Probes every engine; one that does not work is left out and named in the log. */
async function readyEngines(sandbox: Sandbox, logger: Logger): Promise<readonly ReadyEngine[]> {
  const engine = createImageEngine();
  const state = await engine.probe(sandbox);
  if (!state.available) {
    logger.error({ engine: engine.name, reason: state.reason }, 'an engine does not work; its jobs wait for a converter where it does');
    return [];
  }
  logger.info({ engine: engine.name, version: state.version, sandbox: sandbox.level }, 'engine works');
  const converts = (input: string, output: string): boolean => {
    const from = normalizeFormat(input);
    const to = normalizeFormat(output);
    return from !== undefined && to !== undefined && findPair(from, to)?.engine === engine.name;
  };
  return [{ name: 'image', version: state.version, engine, converts }];
}
