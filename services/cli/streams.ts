import { loadSettings } from '../../shared/config/load.ts';
import { readRunFile } from '../../shared/config/run-file.ts';
import { ConfigurationError } from '../../shared/errors/errors.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats, requireServer } from '../../shared/nats/connect.ts';
import { applyStreams } from '../../streams/apply.ts';
import type { Difference } from '../../streams/plan.ts';
import { runCommands, type Command } from './command.ts';

/** A command waits so long for NATS, in ms; the operator sits in front of it. */
const CONNECT_MS_MAX = 5_000;
/** Exit code of `diff` when the server is not as declared, as that of diff(1). */
const EXIT_DIFFERENT = 1;

const options = { json: { type: 'boolean' } } as const;
const usage = '[--json]';

const diff: Command = {
  name: 'diff',
  usage,
  summary: 'Shows what is not as declared in streams/, and changes nothing; exit code 1 when anything is not.',
  options,
  arguments: [],
  async run(values) {
    const differences = await run(true, values['json'] === true);
    return differences.length > 0 ? EXIT_DIFFERENT : undefined;
  },
};

const apply: Command = {
  name: 'apply',
  usage,
  summary: 'Makes streams, buckets and consumers as declared in streams/; refuses all of it when any change would lose something.',
  options,
  arguments: [],
  async run(values) {
    await run(false, values['json'] === true);
    return undefined;
  },
};

async function run(dryRun: boolean, json: boolean): Promise<readonly Difference[]> {
  const { NATS_REPLICAS: replicas, NATS_URL, DATA_DIR } = loadSettings(process.env, ['NATS_REPLICAS', 'NATS_URL', 'DATA_DIR']);
  // Streams are applied before anything else runs, so neither a database nor a master key is asked for.
  const url = NATS_URL ?? readRunFile(DATA_DIR)?.nats_url;
  if (url === undefined) throw new ConfigurationError([`No running service was found in ${DATA_DIR}. Start it with "npm start", point DATA_DIR to its data folder, or set NATS_URL.`]);
  const nc = await connectNats({ url, name: 'cli-streams', logger: createLogger('cli', 'silent') }, CONNECT_MS_MAX);
  try {
    await requireServer(nc);
    const log = json ? () => undefined : (line: string) => void process.stdout.write(`${line}\n`);
    const differences = await applyStreams(nc, { replicas, dryRun, log });
    if (json) process.stdout.write(`${JSON.stringify({ applied: !dryRun, differences })}\n`);
    else if (differences.length === 0) process.stdout.write('Everything is as declared.\n');
    return differences;
  } finally {
    await nc.close();
  }
}

await runCommands('streams', [diff, apply], process.argv.slice(2));
