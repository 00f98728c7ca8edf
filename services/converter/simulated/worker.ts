import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { isoTime } from '../../../shared/clock/clock.ts';
import { DONE, later, type Outcome } from '../../../shared/consume/outcome.ts';
import type { WorkerMessage } from '../../../shared/consume/worker.ts';
import { normalizeFormat } from '../../../shared/domain/catalogue/formats.ts';
import type { LiveJob } from '../../../shared/domain/job-state.ts';
import { jobDecider, type JobCommand } from '../../../shared/domain/job.ts';
import type { TestTriggers } from '../../../shared/domain/test-triggers.ts';
import { ConflictError, Defect, TransientError } from '../../../shared/errors/errors.ts';
import type { AggregateRef, StoredEvent } from '../../../shared/events/envelope.ts';
import { originFrom } from '../../../shared/events/origin.ts';
import { deriveId } from '../../../shared/ids/ids.ts';
import { resultKey } from '../../../shared/objects/keys.ts';
import { openTestTriggers } from '../../../shared/privacy/test-triggers.ts';
import { handleUnlessRefused, loadState } from '../../../shared/store/handle.ts';
import { parseSubject } from '../../../shared/store/subjects.ts';
import { parseDueTimer, scheduleTimer } from '../../../shared/timers/timers.ts';
import type { SimulationContext } from './context.ts';
import { resultFile } from './result-file.ts';

/** Version of the simulation in the log; another result or another time is another version. */
const SIMULATION_VERSION = '1.0.0';
/** What every simulated conversion is said to have taken, in ms (D65). Nothing is charged for it. */
const SIMULATED_BILLABLE_MS = 1_000;

/** A test job that this simulation has claimed. */
type Claimed = { readonly job: LiveJob; readonly attempt: number; readonly claim: StoredEvent };

/** Handles `job.source_received` of a test job: claims it, and ends it at once or sets the timer of its `test:delay`. */
export async function simulateConversion(context: SimulationContext, message: WorkerMessage): Promise<Outcome> {
  const { id } = parseSubject(message.subject);
  return await proceed(context, { kind: 'job', id }, async (dueAtMs) => {
    await scheduleTimer(context.nc, { kind: 'simulation_end', subjectTokens: [id], dueAtMs });
    return DONE;
  });
}

/** Handles the timer of a `test:delay`. By a clock that is behind that of the server it comes early, and is kept. */
export async function endSimulation(context: SimulationContext, message: WorkerMessage): Promise<Outcome> {
  const [id] = parseDueTimer(message.subject).tokens;
  if (id === undefined) throw new Defect('the timer of a job names a job');
  return await proceed(context, { kind: 'job', id }, async (dueAtMs) => Promise.resolve(later(dueAtMs - context.clock.nowMs())));
}

/**
 * Brings a test job one step further, whatever has happened to it before. Nothing is kept between two steps but the
 * log: whoever comes next goes on with the same attempt, which writes the same bytes and ends by the same command. So
 * no attempt of a simulation ever dies, and a delay holds no slot while it lasts.
 */
async function proceed(context: SimulationContext, aggregate: AggregateRef, wait: (dueAtMs: number) => Promise<Outcome>): Promise<Outcome> {
  const { state, events } = await loadState(context.store, jobDecider, aggregate);
  if (state.kind !== 'live' || state.created.key_mode !== 'test') return DONE;
  if (state.status !== 'queued' && state.status !== 'processing') return DONE;
  const triggers = await openTestTriggers(context.dataKeys, aggregate.id, state.created);
  const claimed = await claimJob(context, aggregate, state, events);
  if (!claimed) return DONE;
  const dueAtMs = Date.parse(claimed.claim.envelope.time) + triggers.delayMs;
  if (context.clock.nowMs() < dueAtMs) return await wait(dueAtMs);
  await endJob(context, claimed, triggers);
  return DONE;
}

/** The attempt of a simulation that began before, or a new one. Undefined when somebody ended the job in between. */
async function claimJob(context: SimulationContext, aggregate: AggregateRef, job: LiveJob, events: readonly StoredEvent[]): Promise<Claimed | undefined> {
  const last = events.findLast(({ event }) => event.type === 'job.conversion_started');
  if (last?.event.type === 'job.conversion_started' && last.event.data.engine === 'simulated') return { job, attempt: last.event.data.attempt, claim: last };
  const attempt = job.attempt + 1;
  const cause = events.at(-1);
  if (!cause) throw new Defect('a job has no events');
  const command = { type: 'start_conversion', attempt, engine: 'simulated', engine_version: SIMULATION_VERSION } as const;
  const claim = await decide(context, cause, command, deriveId('simulate', aggregate.id, attempt));
  return claim && { job, attempt, claim };
}

async function endJob(context: SimulationContext, claimed: Claimed, { conversionError }: TestTriggers): Promise<void> {
  const { attempt, claim } = claimed;
  const { id } = claim.aggregate;
  const command = conversionError ? ({ type: 'fail', attempt, error: conversionError } as const) : await storeResult(context, claimed);
  const ended = await decide(context, claim, command, deriveId(command.type, id, attempt));
  const logger = context.logger.child({ job_id: id, correlation_id: claim.envelope.correlationid, attempt });
  if (ended) logger.info({ code: conversionError?.code }, conversionError ? 'simulated conversion failed' : 'simulated conversion finished');
  // Ended by others meanwhile, so nobody will remove what was written since then.
  else if (command.type === 'finish') await context.objects.remove(resultKey(id, attempt));
}

/** Stores the result. What cannot be stored for a reason of ours ends the job, as it ends a real one. */
async function storeResult(context: SimulationContext, { job, attempt, claim }: Claimed): Promise<Extract<JobCommand, { type: 'finish' | 'fail' }>> {
  const { id } = claim.aggregate;
  try {
    const format = normalizeFormat(job.created.output_format);
    if (!format) throw new Defect(`the catalogue has no format ${job.created.output_format}`);
    // Read here, because a file that is missing is a fault of ours and not of the store, which would be asked again for ever.
    const bytes = await readFile(resultFile(format));
    const result = await context.objects.write(resultKey(id, attempt), Readable.from([bytes]), { maxBytes: context.resultBytesMax });
    return { type: 'finish', attempt, result, billable_ms: SIMULATED_BILLABLE_MS, speed_factor: context.speedFactor, expires_at: isoTime(context.clock.nowMs() + context.resultTtlMs) };
  } catch (error) {
    if (error instanceof TransientError || error instanceof ConflictError) throw error;
    context.logger.error({ err: error, job_id: id, attempt }, 'a simulated conversion failed by a fault of the service');
    return { type: 'fail', attempt, error: { code: 'internal', reason: 'system_error' } };
  }
}

/** The event that the command has led to, now or before; undefined when somebody else decided about the job. */
async function decide(context: SimulationContext, cause: StoredEvent, command: JobCommand, commandId: string): Promise<StoredEvent | undefined> {
  const origin = originFrom(cause, 'converter', commandId, context.clock.nowMs());
  return (await handleUnlessRefused(context.store, jobDecider, cause.aggregate, command, origin))?.appended;
}
