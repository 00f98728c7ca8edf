import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';

/** A service whose parts say when they stop; the first to stop takes a moment, in which more signals may come. */
const SERVICE = `
  import { setTimeout as delay } from 'node:timers/promises';
  import { runService } from './shared/lifecycle/run-service.ts';
  import { createLogger } from './shared/log/log.ts';
  await runService(() => createLogger('test', 'silent'), async (cleanup) => {
    cleanup.add('first', () => void process.stdout.write('first stopped\\n'));
    cleanup.add('second', async () => {
      process.stdout.write('second stops\\n');
      await delay(500);
      process.stdout.write('second stopped\\n');
    });
    setInterval(() => undefined, 1_000);
    process.stdout.write('running\\n');
  });
`;

describe('the life of a service', () => {
  it('ends in order although it is told to stop twice', async () => {
    const service = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', SERVICE], { cwd: join(findProjectRoot()), stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    const signals: Readonly<Record<string, NodeJS.Signals>> = { running: 'SIGTERM', 'second stops': 'SIGTERM' };
    service.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const line of text.trim().split('\n')) if (signals[line]) service.kill(signals[line]);
    });
    const [code, signal] = (await once(service, 'exit')) as [number | null, NodeJS.Signals | null];
    expect([code, signal]).to.deep.equal([0, null]);
    expect(output.trim().split('\n')).to.deep.equal(['running', 'second stops', 'second stopped', 'first stopped']);
  });
});
