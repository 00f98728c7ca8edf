import { createWriteStream, readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { DEMO_FILE } from '../../shared/config/find-service.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { normalizeFormat } from '../../shared/domain/catalogue/formats.ts';
import { UsageError, runCommands, type Command, type OptionValues } from './command.ts';
import { ApiClient, ApiError, download, upload, type ClientJob } from './convert/api-client.ts';
import { readOptions } from './convert/options.ts';
import { chooseOutput, formatOf, openSource, partialPath, requireWritable } from './convert/paths.ts';

/** Longest wait the API allows in one request (§8). */
const WAIT_SECONDS = 25;
/** The same during a conversion, whose progress ends no wait. */
const PROGRESS_SECONDS = 5;

const demoSchema = z.object({ base_url: z.string(), live_key: z.string() });

const convert: Command = {
  name: '',
  usage: 'FILE FORMAT [-o FILE] [--option name=value]… [--input-format FORMAT]',
  summary: 'Converts a file through the running service. API_KEY and BASE_URL name another service than the one in DATA_DIR.',
  options: { output: { type: 'string', short: 'o' }, option: { type: 'string', multiple: true }, 'input-format': { type: 'string' } },
  arguments: ['FILE', 'FORMAT'],
  run: (values, [file = '', format = '']) => convertFile(file, format, values),
};

await runCommands('convert', [convert], process.argv.slice(2));

async function convertFile(file: string, format: string, values: OptionValues): Promise<Readonly<Record<string, unknown>>> {
  const target = findTarget();
  const client = new ApiClient(target.baseUrl, target.key);
  const texts = Array.isArray(values['option']) ? values['option'].map(String) : [];
  // What is no option at all is said before anything is asked of the service.
  readOptions(texts, () => true);
  const source = await openSource(file);
  const inputFormat = values['input-format'] ?? formatOf(file);
  const path = typeof values['output'] === 'string' ? values['output'] : await chooseOutput(file, format);
  await requireWritable(path);
  const options = texts.length === 0 ? {} : await typeOptions(client, format, texts);
  const created = await client.createJob({
    import: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'import', input_format: inputFormat, output_format: format, options },
    export: { operation: 'export/url', input: 'convert' },
  });
  const ignored = created.tasks.flatMap((task) => task.ignored_options ?? []);
  if (ignored.length > 0) say(`options without effect: ${ignored.join(', ')}`);
  say(`job ${created.id}: uploading ${source.size} bytes`);
  await upload(created.tasks[0]?.result?.uploadUrl ?? '', source);
  const job = await untilEnded(client, created);
  const url = job.tasks[2]?.result?.url;
  if (job.status !== 'finished' || url === undefined) throw new ApiError(job.error?.message ?? `the job ended as ${job.status}`);
  await save(url, path);
  return { job_id: job.id, file: path, credits_used: job.credits_used ?? 0 };
}

/** Which options take text is asked of the service, which may be of another release. */
async function typeOptions(client: ApiClient, format: string, texts: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const text = await client.textOptions(normalizeFormat(format) ?? format);
  return readOptions(texts, (name) => text.has(name));
}

/** Every request is bounded; the service itself ends every job, so this loop comes to its end. */
async function untilEnded(client: ApiClient, created: ClientJob): Promise<ClientJob> {
  let job = created;
  while (job.status === 'waiting' || job.status === 'queued' || job.status === 'processing') {
    const next = await client.waitForJob(job.id, job.status === 'processing' ? PROGRESS_SECONDS : WAIT_SECONDS);
    const progress = progressOf(next);
    if (next.status !== job.status) say(`job ${job.id}: ${next.status}`);
    else if (progress !== progressOf(job) && progress !== undefined) say(`job ${job.id}: ${progress} %`);
    job = next;
  }
  return job;
}

function progressOf(job: ClientJob): number | undefined {
  return job.tasks[1]?.progress;
}

/** The file appears under its name only when it is whole. */
async function save(url: string, path: string): Promise<void> {
  const partial = partialPath(path);
  try {
    await pipeline(await download(url), createWriteStream(partial, { flush: true }));
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

function findTarget(): { readonly baseUrl: string; readonly key: string } {
  const { API_KEY, BASE_URL } = process.env;
  const demo = readDemo(API_KEY !== undefined && BASE_URL !== undefined);
  const baseUrl = BASE_URL ?? demo?.base_url;
  const key = API_KEY ?? demo?.live_key;
  if (baseUrl === undefined || key === undefined) throw new UsageError('no running service was found: start it with "npm start", or set BASE_URL and API_KEY');
  return { baseUrl: baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''), key };
}

function readDemo(notNeeded: boolean): z.infer<typeof demoSchema> | undefined {
  if (notNeeded) return undefined;
  const { DATA_DIR } = loadSettings(process.env, ['DATA_DIR']);
  try {
    return demoSchema.parse(JSON.parse(readFileSync(join(DATA_DIR, DEMO_FILE), 'utf8')));
  } catch {
    return undefined;
  }
}

/** Progress goes to stderr, so that stdout holds the answer alone. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
