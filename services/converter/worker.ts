import { retryTransient } from '../../shared/consume/retry.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { DONE, later, type Outcome } from '../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../shared/consume/worker.ts';
import { normalizeFormat } from '../../shared/domain/catalogue/formats.ts';
import { findPair, type Pair } from '../../shared/domain/catalogue/pairs.ts';
import { LANE_OF } from '../../shared/domain/catalogue/tools.ts';
import type { LiveJob } from '../../shared/domain/job-state.ts';
import { isExhausted, jobDecider, type JobCommand } from '../../shared/domain/job.ts';
import { ConflictError, TransientError } from '../../shared/errors/errors.ts';
import { originFrom } from '../../shared/events/origin.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import { deriveId, newId } from '../../shared/ids/ids.ts';
import { resultKey } from '../../shared/objects/keys.ts';
import { handleUnlessRefused, loadState } from '../../shared/store/handle.ts';
import { decodeMessage } from '../../shared/store/stored-message.ts';
import { convert, type Conversion } from './conversion.ts';
import type { ConverterContext } from './context.ts';
import { throttleProgress } from './progress.ts';

/** First wait before a job comes again that cannot be converted in this process, in ms; it doubles. */
const NO_ENGINE_WAIT_MS = 10_000;
/** Longest such wait, in ms: so late a job begins when its tool is back, and so seldom thousands of them are looked at. */
const NO_ENGINE_WAIT_MS_MAX = 60_000;
/** A conversion that was interrupted by a stop is offered to other workers at once. */
const HANDED_BACK_WAIT_MS = 0;

/** Wait before the next attempt when the engine of one was killed, in ms; memory that ran out is free again by then. */
const KILLED_WAIT_MS = 5_000;
/** Wait before a message comes again whose job this process is converting already, in ms. */
const IN_HAND_WAIT_MS = 5_000;

type JobError = EventData<'job.failed'>['error'];

/**
 * Handles `job.source_received`: claims the job, converts, stores the result, tells the log. Called again for the same
 * job (the worker died, or the acknowledgement was lost) it looks first what the log says. At any time at most one
 * attempt can end the job; what others still report is refused (D35, D37).
 */
export async function convertJob(context: ConverterContext, message: WorkerMessage, signal: AbortSignal): Promise<Outcome> {
  const cause = decodeMessage(message.subject, message.position, message.bytes);
  const jobId = cause.aggregate.id;
  // A restarted server delivers again what is in hand; a new attempt would fence the one that is about to succeed.
  if (context.running.has(jobId)) return later(IN_HAND_WAIT_MS);
  context.running.add(jobId);
  try {
    return await claimAndConvert(context, cause, message.deliveryCount, signal);
  } finally {
    context.running.delete(jobId);
  }
}

async function claimAndConvert(context: ConverterContext, cause: StoredEvent, deliveryCount: number, signal: AbortSignal): Promise<Outcome> {
  const { aggregate } = cause;
  const { state } = await loadState(context.store, jobDecider, aggregate);
  if (state.kind !== 'live' || (state.status !== 'queued' && state.status !== 'processing')) return DONE;
  // Simulated by a worker of their own, so that they never take the place of a conversion (§5.3).
  if (state.created.key_mode === 'test') return DONE;
  const pair = pairOf(state);
  // One of a later release, whose converters run beside this one.
  if (!pair) return leaveToOthers(deliveryCount);
  if (LANE_OF[pair.engine] !== context.lane) return DONE;
  if (isExhausted(state)) {
    await end(context, cause, state.attempt, { code: 'internal', reason: 'system_error', cause: 'worker_died' });
    return DONE;
  }
  const engine = context.engineFor(pair);
  if (!engine) return leaveToOthers(deliveryCount);
  const attempt = state.attempt + 1;
  const claim = { type: 'start_conversion', attempt, engine: engine.name, engine_version: engine.version } as const;
  // The id is new for every claim, so that another worker's claim of the same attempt never looks like our own.
  if (!(await decideAlone(context, cause, claim, newId(context.clock.nowMs())))) return DONE;
  try {
    const conversion = await convert(context, { jobId: aggregate.id, job: state, attempt, engine, signal, onProgress: progressOf(context, cause, attempt) });
    return await report(context, cause, attempt, conversion, signal);
  } catch (error) {
    return giveBack(context, cause, attempt, error);
  }
}

/** Says in the log now and then how far a long conversion is. */
function progressOf(context: ConverterContext, cause: StoredEvent, attempt: number): (percent: number) => void {
  const jobId = cause.aggregate.id;
  return throttleProgress({
    nowMs: () => context.clock.nowMs(),
    report: (percent) => decideAlone(context, cause, { type: 'report_progress', attempt, percent }, deriveId('progress', jobId, attempt, percent)),
    onFailure: (error) => context.logger.warn({ err: error, job_id: jobId, attempt }, 'cannot say how far a conversion is; it goes on'),
  });
}

function leaveToOthers(deliveryCount: number): Outcome {
  return later(Math.min(NO_ENGINE_WAIT_MS * 2 ** Math.min(deliveryCount - 1, 10), NO_ENGINE_WAIT_MS_MAX));
}

function pairOf({ created }: LiveJob): Pair | undefined {
  const [input, output] = [normalizeFormat(created.input_format), normalizeFormat(created.output_format)];
  return input && output && findPair(input, output);
}

/**
 * What goes wrong around a conversion must not use up the attempts of its job: while a dependency is away the job is
 * handed back and comes again. Anything else is a fault of ours that would come again too; it ends the job, because a
 * job that nobody owns and nobody ends would hold its credits for ever.
 */
async function giveBack(context: ConverterContext, cause: StoredEvent, attempt: number, error: unknown): Promise<Outcome> {
  const jobId = cause.aggregate.id;
  if (error instanceof TransientError || error instanceof ConflictError) {
    await decideAlone(context, cause, { type: 'interrupt_conversion', attempt }, deriveId('interrupt', jobId, attempt));
    throw error;
  }
  context.logger.error({ err: error, job_id: jobId, attempt }, 'a conversion failed by a fault of the service');
  await end(context, cause, attempt, { code: 'internal', reason: 'system_error' });
  return DONE;
}

async function report(context: ConverterContext, cause: StoredEvent, attempt: number, conversion: Conversion, signal: AbortSignal): Promise<Outcome> {
  const jobId = cause.aggregate.id;
  const logger = context.logger.child({ job_id: jobId, correlation_id: cause.envelope.correlationid, attempt });
  switch (conversion.kind) {
    case 'interrupted':
      // Said in the log, or the next worker would take this attempt for one that died.
      await decideAlone(context, cause, { type: 'interrupt_conversion', attempt }, deriveId('interrupt', jobId, attempt));
      logger.info('handed back');
      return later(HANDED_BACK_WAIT_MS);
    case 'killed':
      // Nothing is said in the log, as when the converter itself dies: the next attempt, and the third death, follow (D37).
      logger.warn('the engine of a conversion was ended by somebody else');
      return later(KILLED_WAIT_MS);
    case 'failed':
      // The cause alone: what an engine says about a file quotes it.
      logger.info({ cause: conversion.error.cause }, 'conversion failed');
      await end(context, cause, attempt, conversion.error);
      return DONE;
    case 'converted': {
      const { result, billable_ms } = conversion;
      const nowMs = context.clock.nowMs();
      const expires_at = new Date(nowMs + context.resultTtlMs).toISOString();
      const finish = { type: 'finish', attempt, result, billable_ms, speed_factor: context.speedFactor, expires_at } as const;
      const kept = await retryTransient(() => decideAlone(context, cause, finish, deriveId('finish', jobId, attempt)), signal);
      if (!kept) await context.objects.remove(resultKey(jobId, attempt));
      else logger.info({ billable_ms, size_bytes: result.size_bytes }, 'converted');
      return DONE;
    }
    default:
      return conversion satisfies never;
  }
}

async function end(context: ConverterContext, cause: StoredEvent, attempt: number, error: JobError): Promise<void> {
  await decideAlone(context, cause, { type: 'fail', attempt, error }, deriveId('fail', cause.aggregate.id, attempt));
}

/** False when somebody else decided about the job in between: cancelled, deleted, or owned by another attempt. */
async function decideAlone(context: ConverterContext, cause: StoredEvent, command: JobCommand, commandId: string): Promise<boolean> {
  const origin = originFrom(cause, 'converter', commandId, context.clock.nowMs());
  return (await handleUnlessRefused(context.store, jobDecider, cause.aggregate, command, origin)) !== undefined;
}
