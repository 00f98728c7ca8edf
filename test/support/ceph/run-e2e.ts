/** Runs the end-to-end tests with all files in a bucket of a real Ceph gateway; part of `npm run test:s3`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { makeBucket } from './bucket.ts';
import { startCeph } from './start-ceph.ts';

const ceph = await startCeph();
try {
  const bucket = await makeBucket(ceph);
  bucket.client.destroy();
  const tests = spawn(process.execPath, ['--import', 'tsx', 'test/run.ts', 'test/e2e', 'test/e2e/api'], { env: { ...process.env, ...bucket.settings }, stdio: 'inherit' });
  const [code] = (await once(tests, 'close')) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await ceph.stop();
}
