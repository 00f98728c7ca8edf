import { expect } from 'chai';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectNatsServer } from '../../../services/standalone/nats-version.ts';
import { bringNatsServer } from '../../../services/standalone/setup/nats-server-step.ts';

async function fakeServer(folder: string, version: string): Promise<string> {
  const path = join(folder, 'nats-server');
  await writeFile(path, `#!/bin/sh\necho "nats-server: v${version}"\n`);
  await chmod(path, 0o755);
  return path;
}

describe('setting up nats-server', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'test-setup-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('takes the configured server when it is new enough', async () => {
    const path = await fakeServer(folder, '2.14.0');
    const result = await bringNatsServer(path, () => undefined);
    expect(result).to.deep.equal({ outcome: 'ready', sentence: `already there: ${path} (2.14.0)` });
  });

  it('refuses a configured server that is too old, naming its version and the lowest that will do', async () => {
    const lines: string[] = [];
    const path = await fakeServer(folder, '2.9.10');
    const result = await bringNatsServer(path, (line) => lines.push(line));
    expect(result.outcome).to.equal('missing');
    expect(lines.join('\n')).to.match(/2\.9\.10.*2\.14\.0/);
  });

  it('compares versions by number, not by letter', async () => {
    expect((await inspectNatsServer(await fakeServer(folder, '2.9.99'))).isNewEnough).to.equal(false);
    expect((await inspectNatsServer(await fakeServer(folder, '2.100.0'))).isNewEnough).to.equal(true);
    expect((await inspectNatsServer(await fakeServer(folder, '3.0.0'))).isNewEnough).to.equal(true);
  });

  it('refuses a program that does not say its version', async () => {
    const path = join(folder, 'nats-server');
    await writeFile(path, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(await inspectNatsServer(path)).to.deep.equal({ path, version: undefined, isNewEnough: false });
  });
});
