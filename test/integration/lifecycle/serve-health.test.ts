import { expect } from 'chai';
import { findFreePort } from '../../../services/standalone/free-port.ts';
import { Cleanup } from '../../../shared/lifecycle/run-service.ts';
import { serveHealth } from '../../../shared/lifecycle/serve-health.ts';
import { createLogger } from '../../../shared/log/log.ts';

describe('the health port of a service', () => {
  const cleanup = new Cleanup();
  let port: number;
  let look: () => Promise<unknown>;

  before(async () => {
    port = await findFreePort();
    await serveHealth(port, () => look(), cleanup);
  });
  after(() => cleanup.run(createLogger('test', 'silent')));

  async function ask(path: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    await response.arrayBuffer();
    return response.status;
  }

  it('answers 200 while the look comes back', async () => {
    look = () => Promise.resolve();
    expect(await ask('/healthz')).to.equal(200);
  });

  it('answers 503 when the look fails, and when it does not come back in time', async () => {
    look = () => Promise.reject(new Error('away'));
    expect(await ask('/healthz')).to.equal(503);
    look = () => new Promise(() => undefined);
    expect(await ask('/healthz')).to.equal(503);
  });

  it('answers 404 elsewhere', async () => {
    expect(await ask('/')).to.equal(404);
  });
});
