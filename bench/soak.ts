import { UsageError, runCommands, type Command, type OptionValues } from '../services/cli/command.ts';
import type { FormatName } from '../shared/domain/catalogue/formats.ts';
import { findFiles, type SoakFile } from './soak/files.ts';
import { MemoryWatch } from './soak/memory.ts';
import { OwnService } from './soak/own-service.ts';
import { describeOutcome, isSuspicious, makeReport, printSoak, type Left } from './soak/report.ts';
import { SoakClient, type Outcome } from './soak/soak-client.ts';
import { chooseTarget } from './soak/targets.ts';
import { readTimes } from './soak/times.ts';

const COUNT = 2_000;
const COUNT_MAX = 1_000_000;
const CONCURRENCY = 4;
const CONCURRENCY_MAX = 64;
/** How often a line says how far it is, in files. */
const SAY_EVERY = 50;

type Job = { readonly file: SoakFile; readonly to: FormatName };

const soak: Command = {
  name: '',
  usage: `DIR [--count ${COUNT}] [--concurrency ${CONCURRENCY}] [--address URL] [--json]`,
  summary: `Converts the files of a folder through a service that is started for it on a temporary folder, and reports how they ended, times,
      memory, and what was left. --address soaks a running one instead, with the key in API_KEY; then memory and what was left are not
      seen. Settings of the service are taken from the environment. SIGTERM ends it early, with the report. Exit code 0 when every failure lies in its file and nothing was left,
      1 when not.`,
  options: { count: { type: 'string' }, concurrency: { type: 'string' }, address: { type: 'string' }, json: { type: 'boolean' } },
  arguments: ['DIR'],
  run: (values, [folder = '']) => run(folder, values),
};

await runCommands('soak', [soak], process.argv.slice(2));

async function run(folder: string, values: OptionValues): Promise<number> {
  const count = whole(values, 'count', COUNT, COUNT_MAX);
  const concurrency = whole(values, 'concurrency', CONCURRENCY, CONCURRENCY_MAX);
  const address = values['address'];
  const report = typeof address === 'string' ? await soakAt(address, folder, count, concurrency) : await soakOwn(folder, count, concurrency);
  if (values['json'] === true) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else printSoak(report);
  return report.ok ? 0 : 1;
}

async function soakAt(address: string, folder: string, count: number, concurrency: number): Promise<ReturnType<typeof makeReport>> {
  const key = process.env['API_KEY'];
  if (key === undefined || key === '') throw new UsageError('--address needs the key in API_KEY');
  const client = new SoakClient(address.replace(/\/+$/, '').replace(/\/v1$/, ''), key);
  const startedMs = performance.now();
  const outcomes = await convertAll(client, await plan(client, folder, count), concurrency);
  const left: Left = { processes: [], temporary: [], sources: 0, audit: undefined };
  return makeReport(outcomes, new Map(), [], left, (performance.now() - startedMs) / 1000);
}

async function soakOwn(folder: string, count: number, concurrency: number): Promise<ReturnType<typeof makeReport>> {
  const own = await OwnService.start(count, settingsOf(process.env));
  const { service } = own;
  const watch = new MemoryWatch(service.pid);
  try {
    const client = new SoakClient(service.baseUrl, service.liveKey);
    const startedMs = performance.now();
    const outcomes = await convertAll(client, await plan(client, folder, count), concurrency);
    const seconds = (performance.now() - startedMs) / 1000;
    const times = await readTimes(service.addresses.natsUrl, outcomes.flatMap(({ jobId }) => jobId ?? []));
    const sources = await own.countSources();
    await watch.sample();
    watch.stop();
    const audit = await own.verify();
    const temporary = await own.stop();
    const processes = watch.survivors().map(({ command }) => command);
    return makeReport(outcomes, times, watch.samples, { processes, temporary, sources, audit }, seconds);
  } finally {
    watch.stop();
    await own.stop();
  }
}

async function plan(client: SoakClient, folder: string, count: number): Promise<readonly Job[]> {
  const offers = await client.offers();
  const inputs = new Set([...offers].map((pair) => pair.split('>')[0]));
  const files = await findFiles(folder, count, (format) => inputs.has(format));
  const jobs = files.flatMap((file, index) => {
    const to = chooseTarget(file.format, index, (target) => offers.has(`${file.format}>${target}`));
    return to === undefined ? [] : [{ file, to }];
  });
  if (jobs.length === 0) throw new UsageError(`${folder} has no file that the service converts`);
  return jobs;
}

async function convertAll(client: SoakClient, jobs: readonly Job[], concurrency: number): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...jobs];
  // Whoever has seen enough gets the report. Not once: without a listener tsx ends the process.
  process.on('SIGTERM', () => waiting.splice(0));
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const outcome = await client.convert(job.file, job.to);
      outcomes.push(outcome);
      if (isSuspicious(outcome)) say(describeOutcome(outcome));
      if (outcomes.length % SAY_EVERY === 0) say(`${outcomes.length} of ${jobs.length}, ${outcomes.filter(({ end }) => end === 'finished').length} finished`);
    }
  }));
  return outcomes;
}

/** Progress goes to stderr, so that stdout holds the report alone. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Settings of the converter alone: addresses and folders are those of the soak. */
function settingsOf(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => (/^(?:CONVER|LOG_LEVEL)/.test(name) && value !== undefined ? [[name, value]] : [])));
}

function whole(values: OptionValues, name: string, otherwise: number, max: number): number {
  const value = values[name];
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > max) throw new UsageError(`--${name} must be a whole number from 1 to ${max}`);
  return number;
}
