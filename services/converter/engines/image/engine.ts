import { join } from 'node:path';
import { extensionOf } from '../../../../shared/domain/catalogue/formats.ts';
import { Defect } from '../../../../shared/errors/errors.ts';
import type { JobDir } from '../../sandbox/command.ts';
import { checkResult, checkSource } from '../checks.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine, ToolState, ToolStates } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { askChild } from '../run.ts';
import { countDown } from '../time-left.ts';
import { isUnpacked, pack, unpack } from './ffmpeg.ts';
import { imageAnswer, type ChildTool, type ImageAnswer, type ImageJob } from './job.ts';
import { IMAGE_LIMITS } from './limits.ts';
import { isImageOutput, isPackedOutput } from './outputs.ts';

/** Threads that may be busy at once; the processor limit is so many times the wall-clock limit. */
const BUSY_THREADS = 2;

/** Time in which a probe must answer, milliseconds. */
const PROBE_TIME_LIMIT_MS = 20_000;

/** What ffmpeg makes of a source for sharp, and sharp for ffmpeg. */
const UNPACKED = 'unpacked.png';
const DRAWN = 'drawn.png';

/** Converts pictures: sharp (libvips) draws them, each in a process of its own, and ffmpeg reads and writes what sharp cannot. */
export function createImageEngine(): Engine {
  return {
    name: 'image',
    probe,
    convert,
    stop: () => Promise.resolve(),
  };
}

async function probe(sandbox: ConversionContext['sandbox']): Promise<ToolStates> {
  return { sharp: await probeTool(sandbox, 'sharp'), libheif: await probeTool(sandbox, 'libheif'), pdfkit: await probeTool(sandbox, 'pdfkit') };
}

async function probeTool(sandbox: ConversionContext['sandbox'], tool: ChildTool): Promise<ToolState> {
  const job = await sandbox.openJob();
  try {
    const answer = await runChild(job, { kind: 'probe', tool }, { sandbox, signal: new AbortController().signal, timeLimitMs: PROBE_TIME_LIMIT_MS });
    return answer.kind === 'probed' ? { available: true, version: answer.version } : { available: false, reason: `${answer.kind}; npm ci installs it` };
  } catch (error) {
    const reason = error instanceof EngineFailure ? `${error.code} ${error.operatorDetail}`.trim() : String(error);
    return { available: false, reason: `${reason}; npm ci installs it` };
  } finally {
    await sandbox.closeJob(job);
  }
}

/** Up to three processes one after the other, which share the time that the conversion may take. */
async function convert(request: ConversionRequest, context: ConversionContext): Promise<ConversionResult> {
  const { job, source, input, output, options } = request;
  if (!isImageOutput(output)) throw new Defect(`the image engine does not write ${output}`);
  await checkSource(join(job.path, source), input);
  const rest = countDown(context);
  const result = `result.${extensionOf(output)}`;
  const drawn = isPackedOutput(output) ? DRAWN : result;
  const unpackMs = isUnpacked(input) ? await timed(() => unpack(request, UNPACKED, rest())) : 0;
  const answer = await runChild(job, { kind: 'convert', ...(isUnpacked(input) ? { source: UNPACKED, input: 'png' } : { source, input }), result: drawn, output, options }, rest());
  if (answer.kind === 'failed') throw new EngineFailure(answer.cause);
  if (answer.kind !== 'converted') throw new EngineFailure('engine_crashed', `it answered ${answer.kind}`);
  const packMs = isPackedOutput(output) ? await timed(() => pack(request, drawn, output, result, rest())) : 0;
  const path = join(job.path, result);
  return { path, sizeBytes: await checkResult(path, output), billableMs: unpackMs + answer.billable_ms + packMs };
}

/** Milliseconds that something took, rounded up. */
async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return Math.ceil(performance.now() - startedAt);
}

function runChild(job: JobDir, task: ImageJob, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<ImageAnswer> {
  return askChild('services/converter/engines/image/child', task, imageAnswer, { job, limits: IMAGE_LIMITS, busyThreads: BUSY_THREADS }, context);
}
