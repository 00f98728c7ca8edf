import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findProjectRoot } from '../../shared/tools/project-root.ts';

/** A notifier as a process of its own, compiled; what it logs is shown when `TEST_LOG` names a level. */
export function spawnNotifier(environment: Readonly<Record<string, string>>): ChildProcess {
  const output = process.env['TEST_LOG'] === undefined ? 'ignore' : 'inherit';
  return spawn(process.execPath, ['--enable-source-maps', join(findProjectRoot(), 'dist/services/notifier/main.js')], { env: { ...environment }, stdio: ['ignore', output, 'inherit'] });
}

/** Ends a process at once; does nothing when it has ended. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
