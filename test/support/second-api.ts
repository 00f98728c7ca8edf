import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findFreePort } from '../../services/standalone/free-port.ts';
import { keepTail } from '../../services/standalone/text-tail.ts';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { NO_LIMITS, type TestService } from './service.ts';

/** It starts within two seconds; a busy machine takes longer. */
const START_LIMIT_MS = 60_000;
/** It promises to stop within 15 s. */
const STOP_LIMIT_MS = 20_000;

/** One more api process of a running service. */
export type SecondApi = { readonly baseUrl: string; readonly stop: () => Promise<void> };

/** Starts another api process on the servers and the data of a service, with settings of its own. */
export async function startSecondApi(service: TestService, settings: Readonly<Record<string, string>> = {}): Promise<SecondApi> {
  const { natsUrl, databaseUrl, masterKey } = service.addresses;
  const port = await findFreePort();
  const { PATH = '', HOME = '' } = process.env;
  const environment = {
    PATH, HOME, PORT: String(port), DATA_DIR: service.dataDir, NATS_URL: natsUrl, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey,
    PUBLIC_URL: service.baseUrl, LOG_LEVEL: 'warn', DURABILITY_CHECK: 'warn', ...NO_LIMITS, ...settings,
  };
  // With a channel to this process, at whose end it stops too.
  const child = spawn(process.execPath, [join(findProjectRoot(), 'dist/services/api/main.js')], { env: environment, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const tails = [keepTail(child.stdout), keepTail(child.stderr)];
  const closed = once(child, 'close');
  const patience = AbortSignal.timeout(START_LIMIT_MS);
  try {
    await Promise.race([once(child, 'message', { signal: patience }), closed.then(() => Promise.reject(new Error('it ended')))]);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`the second api did not start:\n${tails.map((tail) => tail()).join('\n')}`, { cause: error });
  }
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async stop() {
      const cutOff = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      child.kill('SIGTERM');
      await closed;
      clearTimeout(cutOff);
    },
  };
}
