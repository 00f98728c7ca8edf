import { join } from 'node:path';
import { extensionOf } from '../../../../shared/domain/catalogue/formats.ts';
import { isOutputFormat } from '../../../../shared/domain/catalogue/options/options.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import type { JobDir, Limits } from '../../sandbox/command.ts';
import type { Exit } from '../../sandbox/process.ts';
import { nodeProgram } from '../../sandbox/program.ts';
import { readText } from '../../sandbox/read-text.ts';
import { checkResult, checkSource } from '../checks.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine, ToolState, ToolStates } from '../engine.ts';
import { checkExit } from '../exit.ts';
import { EngineFailure } from '../failure.ts';
import { imageAnswer, type ImageAnswer, type ImageJob } from './job.ts';

/** Memory of one conversion: 100 megapixels with transparency, three times over, and what Node needs. */
const MEMORY_BYTES_MAX = 3 * 1024 ** 3;

/** Largest result: 100 megapixels with transparency, uncompressed, take 0.4 GB. */
const RESULT_BYTES_MAX = 1024 ** 3;

/** Threads that may be busy at once; the processor limit is so many times the wall-clock limit. */
const BUSY_THREADS = 2;

/** Characters of an answer; it is one short line. */
const ANSWER_MAX = 16_384;

/** Time in which a probe must answer, milliseconds. */
const PROBE_TIME_LIMIT_MS = 20_000;

/** Converts pictures with sharp (libvips), each in a process of its own. */
export function createImageEngine(): Engine {
  return {
    name: 'image',
    probe,
    convert,
    stop: () => Promise.resolve(),
  };
}

async function probe(sandbox: ConversionContext['sandbox']): Promise<ToolStates> {
  return { sharp: await probeSharp(sandbox) };
}

async function probeSharp(sandbox: ConversionContext['sandbox']): Promise<ToolState> {
  const job = await sandbox.openJob();
  try {
    const answer = await runChild(job, { kind: 'probe' }, { sandbox, signal: new AbortController().signal, timeLimitMs: PROBE_TIME_LIMIT_MS, onProgress: () => undefined });
    return answer.kind === 'probed' ? { available: true, version: answer.version } : { available: false, reason: answer.kind };
  } catch (error) {
    return { available: false, reason: error instanceof EngineFailure ? `${error.code} ${error.operatorDetail}`.trim() : String(error) };
  } finally {
    await sandbox.closeJob(job);
  }
}

async function convert(request: ConversionRequest, context: ConversionContext): Promise<ConversionResult> {
  const { job, source, input, output, options } = request;
  if (!isOutputFormat(output)) throw new Defect(`no engine writes ${output}`);
  await checkSource(join(job.path, source), input);
  const result = `result.${extensionOf(output)}`;
  const answer = await runChild(job, { kind: 'convert', source, result, input, output, options }, context);
  if (answer.kind === 'failed') throw new EngineFailure(answer.cause);
  if (answer.kind !== 'converted') throw new EngineFailure('engine_crashed', `it answered ${answer.kind}`);
  const path = join(job.path, result);
  return { path, sizeBytes: await checkResult(path, output), billableMs: answer.billable_ms };
}

async function runChild(job: JobDir, task: ImageJob, { sandbox, signal, timeLimitMs }: ConversionContext): Promise<ImageAnswer> {
  const child = sandbox.spawn({
    program: nodeProgram('services/converter/engines/image/child'),
    job,
    limits: limitsFor(timeLimitMs),
    timeLimitMs,
    signal,
  });
  child.stdin.write(`${JSON.stringify(task)}\n`);
  const [text, exit] = await Promise.all([readText(child.stdout, ANSWER_MAX), child.done]);
  checkExit(exit, signal);
  return parseAnswer(text, exit);
}

function limitsFor(timeLimitMs: number): Limits {
  return {
    fileBytesMax: RESULT_BYTES_MAX,
    cpuSecondsMax: Math.ceil(timeLimitMs / 1000) * BUSY_THREADS,
    memoryBytesMax: MEMORY_BYTES_MAX,
  };
}

/** What a converter says is read like anything from outside: a file may have taken it over. */
function parseAnswer(text: string, exit: Exit): ImageAnswer {
  try {
    return imageAnswer.parse(JSON.parse(text));
  } catch {
    throw new EngineFailure('engine_crashed', exit.stderrTail);
  }
}
