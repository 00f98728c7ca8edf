import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import type { TestService } from './service.ts';

/** One more api process of a service that runs. */
export interface ApiProcess {
  /** Without `/v1`. */
  readonly baseUrl: string;
  /** Sends a signal, -9 unless told otherwise, and waits for the end; nobody starts it again. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts one more api beside that of the service, on a port of its own, from `dist/`. Links point to the service. */
export async function startApi(service: TestService, settings: Readonly<Record<string, string>> = {}): Promise<ApiProcess> {
  const { PATH = '', HOME = '' } = process.env;
  const { natsUrl, databaseUrl, masterKey } = service.addresses;
  const environment = { PATH, HOME, PORT: '0', PUBLIC_URL: service.baseUrl, DATA_DIR: service.dataDir, NATS_URL: natsUrl, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey, DURABILITY_CHECK: 'warn', ...settings };
  const child = spawn(process.execPath, [join(findProjectRoot(), 'dist/services/api/main.js')], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  let port: number | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const said: unknown = JSON.parse(line);
    if (typeof said === 'object' && said !== null && 'port' in said && typeof said.port === 'number') {
      port = said.port;
      break;
    }
  }
  if (port === undefined) throw new Error('the api ended while starting');
  child.stdout.resume();
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async end(signal = 'SIGKILL') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
}
