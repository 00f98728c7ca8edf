import { findTool } from '../../../../shared/tools/find-tool.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import type { JobDir } from '../../sandbox/command.ts';
import type { ConversionContext } from '../engine.ts';
import { runProgram, type Ran } from '../run.ts';
import { BUSY_THREADS, LIMITS } from './limits.ts';

/** The programs of the package ffmpeg. */
type MediaProgram = 'ffmpeg' | 'ffprobe';

/** True when both programs are on this machine. */
export function hasFfmpeg(): boolean {
  return findTool('ffmpeg') !== undefined && findTool('ffprobe') !== undefined;
}

/** What a run of ffmpeg is told besides its arguments. */
export interface MediaRun {
  readonly job: JobDir;
  readonly args: readonly string[];
  /** Characters of its output that are kept. */
  readonly outputMax?: number;
  /** Told what it prints, as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** Runs ffmpeg or ffprobe in a job's folder; throws what `runProgram` throws. */
export function runMedia(name: MediaProgram, { job, args, ...rest }: MediaRun, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<Ran> {
  const command = findTool(name);
  if (command === undefined) throw new Defect(`${name} is not installed`);
  return runProgram({ program: { command, args, readable: [command] }, job, limits: LIMITS, busyThreads: BUSY_THREADS, ...rest }, context);
}
