import { join } from 'node:path';
import { extensionOf } from '../../../../shared/domain/catalogue/formats.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import type { JobDir } from '../../sandbox/command.ts';
import { checkResult, checkSource } from '../checks.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine, ToolState, ToolStates } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { askChild } from '../run.ts';
import { imageAnswer, isImageOutput, type ImageAnswer, type ImageJob } from './job.ts';

/** Memory of one conversion: 100 megapixels with transparency, three times over, and what Node needs. */
const MEMORY_BYTES_MAX = 3 * 1024 ** 3;

/** Largest result: 100 megapixels with transparency, uncompressed, take 0.4 GB. */
const RESULT_BYTES_MAX = 1024 ** 3;

const LIMITS = { memoryBytesMax: MEMORY_BYTES_MAX, fileBytesMax: RESULT_BYTES_MAX } as const;

/** Threads that may be busy at once; the processor limit is so many times the wall-clock limit. */
const BUSY_THREADS = 2;

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
    const answer = await runChild(job, { kind: 'probe' }, { sandbox, signal: new AbortController().signal, timeLimitMs: PROBE_TIME_LIMIT_MS });
    return answer.kind === 'probed' ? { available: true, version: answer.version } : { available: false, reason: answer.kind };
  } catch (error) {
    return { available: false, reason: error instanceof EngineFailure ? `${error.code} ${error.operatorDetail}`.trim() : String(error) };
  } finally {
    await sandbox.closeJob(job);
  }
}

async function convert(request: ConversionRequest, context: ConversionContext): Promise<ConversionResult> {
  const { job, source, input, output, options } = request;
  if (!isImageOutput(output)) throw new Defect(`no engine writes ${output}`);
  await checkSource(join(job.path, source), input);
  const result = `result.${extensionOf(output)}`;
  const answer = await runChild(job, { kind: 'convert', source, result, input, output, options }, context);
  if (answer.kind === 'failed') throw new EngineFailure(answer.cause);
  if (answer.kind !== 'converted') throw new EngineFailure('engine_crashed', `it answered ${answer.kind}`);
  const path = join(job.path, result);
  return { path, sizeBytes: await checkResult(path, output), billableMs: answer.billable_ms };
}

function runChild(job: JobDir, task: ImageJob, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<ImageAnswer> {
  return askChild('services/converter/engines/image/child', task, imageAnswer, { job, limits: LIMITS, busyThreads: BUSY_THREADS }, context);
}
