import { findTool } from '../../../shared/tools/find-tool.ts';
import { fetchFromDebian } from './debian-package.ts';
import { runCommand } from './run-command.ts';
import { briefly, type Say, type StepResult } from './step.ts';

/** Setting up an empty sandbox takes milliseconds. */
const TRIAL_LIMIT_MS = 5_000;
const WITHOUT = 'The converter does not start without it, unless CONVERTER_SANDBOX is set to limits (docs/operations.md says when that will do).';

/** Looks for bubblewrap, the sandbox around conversions, and brings it where that is possible. */
export async function bringBubblewrap(say: Say): Promise<StepResult> {
  if (process.platform !== 'linux') return { outcome: 'degraded', sentence: 'bubblewrap needs Linux. Here the converter starts with CONVERTER_SANDBOX=off alone, which is for files that you trust.' };
  const known = findTool('bwrap');
  if (known !== undefined) return tryOut(known, 'already there');
  say('trying the Debian package of this machine’s own suite');
  const attempt = await fetchFromDebian({ name: 'bubblewrap', suite: undefined, program: 'usr/bin/bwrap', tool: 'bwrap' });
  if ('value' in attempt) return tryOut(attempt.value, 'brought to');
  say(attempt.reason);
  return { outcome: 'degraded', sentence: `bubblewrap could not be brought. ${WITHOUT}` };
}

/** A program that is there may still be forbidden: some systems and containers allow no user namespaces. */
async function tryOut(path: string, how: string): Promise<StepResult> {
  try {
    await runCommand(path, ['--unshare-all', '--ro-bind', '/', '/', 'true'], { limitMs: TRIAL_LIMIT_MS });
    return { outcome: 'ready', sentence: `${how}: ${path}` };
  } catch (error) {
    return { outcome: 'degraded', sentence: `${path} is there but may not make a sandbox here (${briefly(error)}). ${WITHOUT}` };
  }
}
