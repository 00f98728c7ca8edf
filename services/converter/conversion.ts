import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { retryTransient } from '../../shared/consume/retry.ts';
import { normalizeFormat } from '../../shared/domain/catalogue/formats.ts';
import type { LiveJob } from '../../shared/domain/job-state.ts';
import { Defect, TransientError } from '../../shared/errors/errors.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { ObjectChangedError, ObjectDamagedError, ObjectNotFoundError, ObjectTooLargeError } from '../../shared/objects/errors.ts';
import { resultKey, sourceKey } from '../../shared/objects/keys.ts';
import { jobKeyName } from '../../shared/privacy/data-keys.ts';
import { openTyped } from '../../shared/privacy/typed.ts';
import type { ConverterContext, ReadyEngine } from './context.ts';
import type { ConversionResult } from './engines/engine.ts';
import { EngineFailure, EngineKilled } from './engines/failure.ts';
import type { JobDir } from './sandbox/command.ts';

/** Name of the source in the job's folder; never a user's file name. */
const SOURCE_NAME = 'source';
/**
 * How long a conversion may go on after the service was asked to stop, in ms; then it is handed back. Less than the 6 s
 * that the standalone edition gives a converter to stop, with time to end the engine and to tell the server.
 */
const STOP_GRACE_MS = 4_000;

type JobError = EventData<'job.failed'>['error'];

/** How a conversion ended, short of a dependency being away, which is thrown and tried again. */
export type Conversion =
  | { readonly kind: 'converted'; readonly result: EventData<'job.finished'>['result']; readonly billable_ms: number }
  | { readonly kind: 'failed'; readonly error: JobError }
  /** Somebody ended the engine; the attempt is as dead as if the converter had died. */
  | { readonly kind: 'killed' }
  | { readonly kind: 'interrupted' };

/** A claimed attempt. `onProgress` is told as often as the engine likes. */
export type Claim = { readonly jobId: string; readonly job: LiveJob; readonly attempt: number; readonly engine: ReadyEngine; readonly signal: AbortSignal; readonly onProgress: (percent: number) => void };

/**
 * Brings the source, converts it in a folder of its own inside the sandbox, and stores the result under its attempt. A
 * store that is away is waited for within the attempt, so that an outage does not use up the attempts of a job.
 */
export async function convert(context: ConverterContext, claim: Claim): Promise<Conversion> {
  const job = await openFolder(context);
  const interrupt = abortAfterGrace(claim.signal);
  try {
    const converted = await runEngine(context, claim, job, interrupt.signal);
    const key = resultKey(claim.jobId, claim.attempt);
    const result = await retryTransient(() => context.objects.write(key, converted.path, { maxBytes: context.resultBytesMax }), interrupt.signal);
    return { kind: 'converted', result, billable_ms: Math.round(converted.billableMs) };
  } catch (error) {
    // A shutdown of the machine may tell the engine before its time is over.
    if (interrupt.signal.aborted || (error instanceof EngineKilled && claim.signal.aborted)) return { kind: 'interrupted' };
    return failureOf(error);
  } finally {
    interrupt.release();
    // A folder that stays is removed at the next start; a conversion that went well is not to be lost for it.
    await context.sandbox.closeJob(job).catch((error: unknown) => context.logger.error({ err: error, job_id: claim.jobId }, 'the folder of a job was not removed'));
  }
}

/** A full disk, or too many open files, is no fault of the job. Throws `TransientError`. */
async function openFolder(context: ConverterContext): Promise<JobDir> {
  try {
    return await context.sandbox.openJob();
  } catch (cause) {
    throw new TransientError('storage', 'no folder can be made for a job', { cause });
  }
}

async function runEngine(context: ConverterContext, claim: Claim, job: JobDir, signal: AbortSignal): Promise<ConversionResult> {
  const { created, source } = claim.job;
  if (!source) throw new Defect('a queued job has no source');
  const options = await retryTransient(() => openOptions(context, claim), signal);
  const path = join(job.path, SOURCE_NAME);
  await retryTransient(() => context.objects.download(sourceKey(claim.jobId), path, { ifMatch: source.etag }), signal);
  const request = { job, organizationId: created.organization_id, source: SOURCE_NAME, input: knownFormat(created.input_format), output: knownFormat(created.output_format), options };
  return claim.engine.engine.convert(request, { sandbox: context.sandbox, signal, timeLimitMs: context.timeLimitMs, onProgress: claim.onProgress });
}

async function openOptions(context: ConverterContext, claim: Claim): Promise<Readonly<Record<string, unknown>>> {
  const key = await context.dataKeys.get(jobKeyName(claim.jobId));
  if (!key) throw new ObjectNotFoundError();
  return openTyped(key, claim.job.created.organization_id, claim.jobId, claim.job.created.typed).options;
}

function knownFormat(name: string): NonNullable<ReturnType<typeof normalizeFormat>> {
  const format = normalizeFormat(name);
  if (!format) throw new Defect(`the catalogue has no format ${name}`);
  return format;
}

/** What lies with the file or its size ends the job; what lies with a dependency is thrown on and tried again. */
function failureOf(error: unknown): Conversion {
  if (error instanceof EngineKilled) return { kind: 'killed' };
  if (error instanceof EngineFailure) {
    const reason = error.code === 'timeout' ? 'timeout' : 'system_error';
    return { kind: 'failed', error: { code: 'internal', reason, cause: error.code } };
  }
  if (error instanceof ObjectNotFoundError || error instanceof ObjectChangedError) return failed('source_missing');
  if (error instanceof ObjectDamagedError) return failed('source_damaged');
  if (error instanceof ObjectTooLargeError) return failed('result_too_large');
  throw error;
}

function failed(cause: NonNullable<JobError['cause']>): Conversion {
  return { kind: 'failed', error: { code: 'internal', reason: 'system_error', cause } };
}

function abortAfterGrace(stopping: AbortSignal): { readonly signal: AbortSignal; readonly release: () => void } {
  const interrupt = new AbortController();
  const released = new AbortController();
  const onStop = (): void => {
    delay(STOP_GRACE_MS, undefined, { signal: released.signal }).then(() => interrupt.abort(), () => undefined);
  };
  if (stopping.aborted) onStop();
  else stopping.addEventListener('abort', onStop, { once: true });
  return {
    signal: interrupt.signal,
    release: () => {
      stopping.removeEventListener('abort', onStop);
      released.abort();
    },
  };
}
