import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fixturePath } from '../test/support/fixtures.ts';
import { startService } from '../test/support/service.ts';
import { JobClient } from './job-client.ts';
import { median, print, seconds } from './table.ts';

/**
 * A small document to PDF: through the whole service, from the request to the last byte of the result, beside a
 * LibreOffice that is started for this one file, with a profile of its own as isolation wants it, and with one that is
 * there already. In turns, so that all of them meet the same machine.
 */
const RUNS = 15;
const FILE = 'a-text.docx';
const SOFFICE = 'soffice';

const folder = await mkdtemp(join(tmpdir(), 'bench-office-'));
const isolation = process.env['CONVERTER_ISOLATION'] ?? 'strict';
const service = await startService({ settings: { LOG_LEVEL: 'warn', CONVERTER_ISOLATION: isolation } });
try {
  const client = new JobClient(service);
  const file = await readFile(fixturePath(FILE));
  await copyFile(fixturePath(FILE), join(folder, FILE));
  const times = { service: [] as number[], cold: [] as number[], coldKnown: [] as number[] };
  await client.convert(file, 'docx', 'pdf');
  await runCold('known');
  for (let run = 0; run < RUNS; run += 1) {
    times.service.push(await seconds(() => client.convert(file, 'docx', 'pdf')));
    times.cold.push(await seconds(() => runCold(`profile-${run}`)));
    times.coldKnown.push(await seconds(() => runCold('known')));
  }
  const ours = median(times.service);
  const row = (name: string, values: readonly number[]): readonly string[] => [name, median(values).toFixed(3), Math.min(...values).toFixed(3), Math.max(...values).toFixed(3), (median(values) / ours).toFixed(1)];
  print([
    ['docx to pdf', 'median s', 'least s', 'most s', 'of the service'],
    row(`whole service, isolation ${isolation}`, times.service),
    row('cold soffice, new profile', times.cold),
    row('cold soffice, known profile', times.coldKnown),
  ]);
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}

async function runCold(profile: string): Promise<void> {
  await promisify(execFile)(SOFFICE, [`-env:UserInstallation=file://${join(folder, profile)}`, '--headless', '--convert-to', 'pdf', '--outdir', folder, join(folder, FILE)]);
}
