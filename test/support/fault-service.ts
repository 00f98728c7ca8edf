import { openOperator, type TestOperator } from './organization.ts';
import { startService, type TestService } from './service.ts';

/** A hold whose job was never created is released after this time, in seconds; two minutes would make the tests long. */
export const HOLD_RELEASE_SECONDS = 20;
/** Stopping takes up to 20 s, a busy machine some more. */
const STOP_LIMIT_MS = 60_000;

/** A service that is there to be killed, in parts, and an operator beside it. */
export type FaultService = { readonly service: TestService; readonly operator: TestOperator };

let shared: Promise<FaultService> | undefined;

// A hook of the root suite: the service ends with the last test, so that mocha can exit by itself.
if (typeof after === 'function') {
  after(async function stopShared() {
    this.timeout(STOP_LIMIT_MS);
    const started = await shared?.catch(() => undefined);
    shared = undefined;
    await started?.operator.stop();
    await started?.service.stop();
  });
}

/** One service for all fault tests of this process: each must leave it whole, which the next one relies on. */
export function faultService(): Promise<FaultService> {
  shared ??= start();
  return shared;
}

async function start(): Promise<FaultService> {
  const service = await startService({ settings: { LOG_LEVEL: 'warn', HOLD_RELEASE_SECONDS: String(HOLD_RELEASE_SECONDS) } });
  return { service, operator: await openOperator(service) };
}
