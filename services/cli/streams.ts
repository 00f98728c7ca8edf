import type { NatsConnection } from '@nats-io/transport-node';
import { findNats } from '../../shared/config/find-service.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats, requireServer } from '../../shared/nats/connect.ts';
import { applyStreams } from '../../streams/apply.ts';
import type { Difference } from '../../streams/plan.ts';
import { removeConsumer } from '../../streams/remove-consumer.ts';
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

const remove: Command = {
  name: 'remove-consumer',
  usage: 'STREAM NAME',
  summary: 'Removes a consumer that is not declared any more, and with it the knowledge how far its worker was; declared again it begins with the first message.',
  options: {},
  arguments: ['STREAM', 'NAME'],
  run: (_values, [stream = '', durable = '']) =>
    withNats(async (nc) => {
      await removeConsumer(nc, stream, durable);
      return { removed: `${stream}/${durable}` };
    }),
};

async function run(dryRun: boolean, json: boolean): Promise<readonly Difference[]> {
  const { NATS_REPLICAS: replicas } = loadSettings(process.env, ['NATS_REPLICAS']);
  return withNats(async (nc) => {
    const log = json ? () => undefined : (line: string) => void process.stdout.write(`${line}\n`);
    const differences = await applyStreams(nc, { replicas, dryRun, log });
    if (json) process.stdout.write(`${JSON.stringify({ applied: !dryRun, differences })}\n`);
    else if (differences.length === 0) process.stdout.write('Everything is as declared.\n');
    return differences;
  });
}

/** Streams are applied before anything else runs, so neither a database nor a master key is asked for. */
async function withNats<T>(work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const nc = await connectNats({ url: findNats(process.env), name: 'cli-streams', logger: createLogger('cli', 'silent') }, CONNECT_MS_MAX);
  try {
    await requireServer(nc);
    return await work(nc);
  } finally {
    await nc.close();
  }
}

await runCommands('streams', [diff, apply, remove], process.argv.slice(2));
