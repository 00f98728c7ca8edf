import { rebuildTimers } from '../../../shared/timers/rebuild-timers.ts';
import type { Command } from '../command.ts';
import { withConnection } from '../connection.ts';

/** `admin timers rebuild`: for a log that was put back without its timers, or with older ones. Prints how many were set. */
export const timersRebuild: Command = {
  name: 'timers rebuild',
  usage: '',
  summary: 'Sets every deadline of every job, and the next attempt of every delivery, anew out of the log; what is past is met at once. Safe to repeat while the service runs.',
  options: {},
  arguments: [],
  run: () => withConnection(async ({ nc, clock }) => ({ timers: await rebuildTimers(nc, clock.nowMs()) })),
};
