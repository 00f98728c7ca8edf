import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';

const SCRIPT = `
import { createLogger } from './shared/log/log.ts';
const logger = createLogger('test');
process.once('disconnect', () => {
  logger.info('stopping');
  logger.fatal('one line more');
  process.exit(0);
});
logger.info('ready');
`;

describe('a process whose starter was killed', () => {
  it('ends although nobody reads its log any more', async () => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', SCRIPT], {
      cwd: findProjectRoot(),
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    await once(child.stdout ?? child, 'data');
    child.stdout?.destroy();
    child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    expect(code).to.equal(0);
  });
});
