import type { z } from 'zod';
import type { JobDir, Limits } from '../sandbox/command.ts';
import type { Exit } from '../sandbox/process.ts';
import { nodeProgram, type Program } from '../sandbox/program.ts';
import { readText } from '../sandbox/read-text.ts';
import type { ConversionContext } from './engine.ts';
import { checkExit } from './exit.ts';
import { EngineFailure } from './failure.ts';

/** Characters of what a program prints that are kept, unless its caller wants more. */
const OUTPUT_MAX = 16_384;

/** A program that is to run in a job's folder. */
export interface Run {
  readonly program: Program;
  readonly job: JobDir;
  /** But for the processor time, which follows from the wall-clock limit. */
  readonly limits: Omit<Limits, 'cpuSecondsMax'>;
  /** How many processors it may keep busy at once. */
  readonly busyThreads: number;
  /** Written to its stdin, which then stays open until it ends. */
  readonly input?: string;
  /** Characters of its stdout that are kept; the rest is dropped. */
  readonly outputMax?: number;
  /** Told what it prints to its stdout, as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** What a program printed, and how it came to its end. */
export interface Ran {
  readonly output: string;
  readonly exit: Exit;
}

/**
 * Runs a program to its end, whatever its exit code: programs for single files end with one for every bad file.
 * @throws what `checkExit` throws for an end that was not its own.
 */
export async function runProgram(run: Run, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<Ran> {
  const { sandbox, signal, timeLimitMs } = context;
  const limits = { ...run.limits, cpuSecondsMax: Math.ceil(timeLimitMs / 1000) * run.busyThreads };
  const child = sandbox.spawn({ program: run.program, job: run.job, limits, timeLimitMs, signal });
  if (run.input !== undefined) child.stdin.write(run.input);
  if (run.onOutput !== undefined) child.stdout.setEncoding('utf8').on('data', run.onOutput);
  const [output, exit] = await Promise.all([readText(child.stdout, run.outputMax ?? OUTPUT_MAX), child.done]);
  if (exit.cause !== 'exited' || exit.signal !== null) checkExit(exit, signal);
  return { output, exit };
}

/**
 * Runs a compiled program of ours that reads one line of JSON and answers with another. What it says is read like
 * anything from outside: a file may have taken it over.
 * @throws EngineFailure `engine_crashed` when it does not answer; also what `checkExit` throws.
 */
export async function askChild<Answer>(path: string, task: unknown, answer: z.ZodType<Answer>, run: Omit<Run, 'program' | 'input'>, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<Answer> {
  const { output, exit } = await runProgram({ ...run, program: nodeProgram(path), input: `${JSON.stringify(task)}\n` }, context);
  checkExit(exit, context.signal);
  try {
    return answer.parse(JSON.parse(output));
  } catch {
    throw new EngineFailure('engine_crashed', exit.stderrTail);
  }
}
