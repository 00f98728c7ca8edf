import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_ADDRESS, startEgressBench, type EgressBench } from './egress-bench.ts';
import { ORIGIN_ADDRESS } from './origin.ts';
import { startService, type TestService } from './service.ts';

/** A service and a host that its webhook endpoints are on. */
export interface WebhookService {
  readonly service: TestService;
  readonly far: EgressBench;
  /** Everything it has said so far, at the level `trace`. */
  output(): string;
  stop(): Promise<void>;
}

/** Stopping takes up to half a minute. */
const STOP_LIMIT_MS = 40_000;

/** Starts both; outbound requests reach the one address of the host and one where nothing is. */
export async function startWebhookService(settings: Readonly<Record<string, string>> = {}): Promise<WebhookService> {
  const far = await startEgressBench();
  const folder = await mkdtemp(join(tmpdir(), 'test-webhooks-'));
  await writeFile(join(folder, 'ca.pem'), far.authority.cert);
  let output = '';
  const service = await startService({
    settings: { OUTBOUND_ALLOWED_ADDRESSES: `${ORIGIN_ADDRESS}/32,${EMPTY_ADDRESS}/32`, OUTBOUND_CA_FILE: join(folder, 'ca.pem'), OUTBOUND_DNS_SERVERS: far.names.address, LOG_LEVEL: 'trace', ...settings },
    onOutput: (text) => void (output += text),
  });
  return {
    service,
    far,
    output: () => output,
    async stop() {
      await service.stop();
      await far.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let shared: Promise<WebhookService> | undefined;

// A hook of the root suite: the shared service ends with the last test, so that mocha can exit by itself.
if (typeof after === 'function') {
  after(async function stopShared() {
    this.timeout(STOP_LIMIT_MS);
    const started = shared;
    shared = undefined;
    await (await started?.catch(() => undefined))?.stop();
  });
}

/** One for all test files of this process; each test takes an organization of its own. */
export function sharedWebhookService(): Promise<WebhookService> {
  shared ??= startWebhookService();
  return shared;
}
