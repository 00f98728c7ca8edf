import { open, copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { JobView } from '../shared/domain/job-view.ts';
import { print, seconds, type Row } from './table.ts';
import { tasksOf, TestClient, uploadUrlOf } from '../test/support/client.ts';
import { MultipartUpload, type Descriptor, type SentPart } from '../test/support/multipart.ts';
import { startService, type ProcessName, type TestService } from '../test/support/service.ts';

/**
 * Sends the largest file there may be in parts, and the largest single upload, through the running service, and prints
 * the seconds of each step, what they are of a plain copy of the same bytes on the same disk, and the most memory that
 * each process ever had. The files only begin as pictures do; what is measured is the upload.
 */
const MIB = 2 ** 20;
const MULTIPART_BYTES = 1024 * MIB;
const SINGLE_BYTES = 100 * MIB;
/** Parts on their way at once, as a client with a good line sends them. */
const LANES = 3;
const NOISE_BYTES = 16 * MIB;
const TIFF_START = Buffer.from('49492a0008000000', 'hex');
const PROCESSES: readonly ProcessName[] = ['api', 'importer', 'converter', 'ledger', 'projections', 'nats-server', 'postgres'];

const folder = await mkdtemp(join(tmpdir(), 'bench-upload-'));
const service = await startService({ settings: { LOG_LEVEL: 'warn' } });
try {
  const client = new TestClient(service.baseUrl, service.liveKey);
  const rest = await memoryOf(service, 'VmRSS');
  const rows = [...(await measure(client, 'multipart', MULTIPART_BYTES, sendInParts)), ...(await measure(client, 'single', SINGLE_BYTES, sendAtOnce))];
  print([['step', 'bytes', 'seconds', 'of a plain copy'], ...rows]);
  const peak = await memoryOf(service, 'VmHWM');
  print([['process', 'MiB at rest', 'MiB at most'], ...PROCESSES.map((name) => [name, rest.get(name) ?? '', peak.get(name) ?? ''])]);
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Times of one way of upload, each beside the copy of the same file. */
async function measure(client: TestClient, way: string, sizeBytes: number, send: (client: TestClient, job: JobView, path: string) => Promise<readonly (readonly [string, number])[]>): Promise<readonly Row[]> {
  const path = join(folder, way);
  await makeFile(path, sizeBytes);
  const copySeconds = await seconds(() => copyDurably(path, join(service.dataDir, 'copy')));
  const job = await client.createJob(tasksOf('tiff', 'jpg'));
  const steps = [...(await send(client, job, path)), ['until the file is bound', await seconds(() => untilBound(client, job))] as const];
  await rm(path);
  const row = (step: string, time: number): Row => [`${way}: ${step}`, String(sizeBytes), time.toFixed(2), (time / copySeconds).toFixed(1)];
  return [row('plain copy', copySeconds), ...steps.map(([step, time]) => row(step, time))];
}

async function sendInParts(client: TestClient, job: JobView, path: string): Promise<readonly (readonly [string, number])[]> {
  const upload = new MultipartUpload(client, job);
  const { body } = await upload.start(MULTIPART_BYTES);
  const parts: SentPart[] = [];
  const sending = await seconds(async () => {
    const numbers = Array.from({ length: body.parts_expected }, (_, index) => index + 1);
    await Promise.all(Array.from({ length: LANES }, async () => {
      for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) parts.push(await sendPart(upload, body, path, number));
    }));
  });
  parts.sort((a, b) => a.part_number - b.part_number);
  const completing = await seconds(async () => {
    const answer = await upload.complete(parts);
    if (answer.status !== 200) throw new Error(`not completed: ${answer.status} ${answer.bytes.toString()}`);
  });
  return [['sending 41 parts', sending], ['completing', completing]];
}

async function sendPart(upload: MultipartUpload, { part_size }: Descriptor, path: string, number: number): Promise<SentPart> {
  const start = (number - 1) * part_size;
  const end = Math.min(start + part_size, MULTIPART_BYTES) - 1;
  return { part_number: number, etag: await put(await upload.url(number), path, { start, end }) };
}

async function sendAtOnce(_client: TestClient, job: JobView, path: string): Promise<readonly (readonly [string, number])[]> {
  return [['sending', await seconds(() => put(uploadUrlOf(job), path, { start: 0, end: SINGLE_BYTES - 1 }))]];
}

/** PUTs some bytes of a file as they are read, and answers the ETag. */
function put(url: string, path: string, { start, end }: { readonly start: number; readonly end: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'PUT', headers: { 'Content-Length': end - start + 1 } }, (response) => {
      response.resume();
      if (response.statusCode === 200) resolve(response.headers.etag ?? '');
      else reject(new Error(`PUT answered ${response.statusCode}`));
    });
    pipeline(createReadStream(path, { start, end, highWaterMark: MIB }), sending).catch(reject);
  });
}

async function untilBound(client: TestClient, job: JobView): Promise<void> {
  for (let status = 'waiting'; status === 'waiting'; ) ({ status } = (await client.send<JobView>('GET', `/v1/jobs/${job.id}?wait=25`)).body);
}

async function makeFile(path: string, sizeBytes: number): Promise<void> {
  const file = await open(path, 'w');
  const noise = randomBytes(NOISE_BYTES);
  for (let written = 0; written < sizeBytes; written += NOISE_BYTES) await file.write(noise, 0, Math.min(NOISE_BYTES, sizeBytes - written), written);
  await file.write(TIFF_START, 0, TIFF_START.length, 0);
  await file.sync();
  await file.close();
}

/** What the service promises too: the bytes are on the disk. */
async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const file = await open(to, 'r+');
  await file.sync();
  await file.close();
  await rm(to);
}

/** Resident memory of each process in MiB: now (`VmRSS`), or the most it ever was (`VmHWM`). Linux tells it; others do not. */
async function memoryOf(running: TestService, field: 'VmRSS' | 'VmHWM'): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const name of PROCESSES) {
    const status = await readFile(`/proc/${running.pidOf(name)}/status`, 'utf8').catch(() => '');
    const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
    found.set(name, kib === undefined ? 'unknown' : String(Math.round(Number(kib) / 1024)));
  }
  return found;
}
