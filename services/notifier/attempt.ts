import { isoTime } from '../../shared/clock/clock.ts';
import { DONE, later, type Outcome } from '../../shared/consume/outcome.ts';
import { retryTransient } from '../../shared/consume/retry.ts';
import { deliveryDecider, isDeliveryOver, type AttemptResult, type DeliveryCommand, type DeliveryState, type LiveDelivery } from '../../shared/domain/delivery.ts';
import { ConflictError, Defect, DomainError } from '../../shared/errors/errors.ts';
import type { Origin, StoredEvent } from '../../shared/events/envelope.ts';
import { originFrom } from '../../shared/events/origin.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { afterLast } from '../../shared/store/event-store.ts';
import { handle, handleUnlessRefused, loadState } from '../../shared/store/handle.ts';
import { scheduleTimer } from '../../shared/timers/timers.ts';
import { composeRequest, type LoadedDelivery } from './compose-request.ts';
import type { NotifierContext } from './context.ts';
import { disableIfFailed } from './disable.ts';
import type { EndpointPlace } from './endpoint-places.ts';
import { reachedBy, sendAttempt } from './send-attempt.ts';

/** An attempt that nobody has recorded this long after its deadline, in ms, was lost with whoever made it. */
const LOST_MARGIN_MS = 15_000;
/** What is due within this time, in ms, is waited for by its message; for longer waits there are timers. */
const SOON_MS = 5_000;
/** Longest wait of a timer that came before its time, in ms; then the delivery is looked at again. */
const EARLY_MS_MAX = 60_000;
/** Of an attempt that we cut off ourselves the next one follows at once, by another notifier or after our own restart. */
const AT_ONCE: readonly number[] = [0, 0, 0, 0];

/** What made us look at a delivery: that it was queued, or its timer. */
type Prompt = 'queued' | 'timer';

/**
 * Makes the next attempt of a delivery if there is one to make now, and otherwise sees to it that somebody looks again
 * when there is. It looks at the delivery and not at the message, which may come late, early or twice. Throws
 * `TransientError`.
 */
export async function attemptDelivery(context: NotifierContext, deliveryId: string, prompt: Prompt, stopping: AbortSignal): Promise<Outcome> {
  const delivery = await load(context, deliveryId);
  // Older than the log remembers.
  if (!delivery) return DONE;
  const { state } = delivery;
  if (isDeliveryOver(state)) return await meetEnd(context, delivery);
  if (state.open) return await interruptLost(context, delivery);
  const dueAtMs = state.next_attempt_at === undefined ? 0 : Date.parse(state.next_attempt_at);
  if (dueAtMs > context.clock.nowMs()) return await whenDue(context, deliveryId, dueAtMs, prompt);
  const place = await context.places.take(state.queued.webhook_id, stopping);
  if (place) return await makeAttempt(context, delivery, place, stopping);
  if (stopping.aborted) return later(0);
  context.figures.countPutOff();
  // By a timer and not by this message: however many wait for an endpoint, none of them counts as out.
  await setTimer(context, deliveryId, context.places.putOffUntil(state.queued.webhook_id));
  return DONE;
}

async function load(context: NotifierContext, id: string): Promise<LoadedDelivery | undefined> {
  const { state, events } = await loadState(context.store, deliveryDecider, { kind: 'delivery', id });
  const [queued] = events;
  return state.kind === 'none' || !queued ? undefined : { id, state, events, queued };
}

/** A process that died between the last record and what follows from it has left that to us. */
async function meetEnd(context: NotifierContext, { state, events }: LoadedDelivery): Promise<Outcome> {
  const recorded = events.at(-1);
  if (state.status === 'failed' && state.last && recorded) await disableIfFailed(context, { queued: state.queued, result: state.last, recorded });
  return DONE;
}

/** An attempt that was begun and whose end nobody has recorded: it is being made, or was lost. */
async function interruptLost(context: NotifierContext, { id, queued, state }: LoadedDelivery): Promise<Outcome> {
  const { terms, clock } = context;
  const command = { type: 'interrupt_attempt', now: isoTime(clock.nowMs()), lost_after_ms: terms.timeoutMs + LOST_MARGIN_MS, delays_ms: terms.delaysMs } as const;
  try {
    const { appended } = await handle(context.store, deliveryDecider, { kind: 'delivery', id }, command, originOf(context, queued));
    if (appended) told(context, id, appended, state.queued);
    // The next attempt follows by this same message.
    return later(0);
  } catch (error) {
    return waitAsTold(context, error);
  }
}

/** A refusal that says until when; anything else is thrown. */
function waitAsTold({ clock }: NotifierContext, error: unknown): Outcome {
  if (!(error instanceof DomainError)) throw error;
  const dueAt = error.details['due_at'];
  return typeof dueAt === 'string' ? later(Math.max(0, Date.parse(dueAt) - clock.nowMs())) : later(SOON_MS);
}

async function whenDue(context: NotifierContext, deliveryId: string, dueAtMs: number, prompt: Prompt): Promise<Outcome> {
  const waitMs = Math.max(0, dueAtMs - context.clock.nowMs());
  // A timer comes early when the server's clock is ahead of ours; set anew it would come at once, over and over.
  if (prompt === 'timer' || waitMs <= SOON_MS) return later(Math.min(waitMs, EARLY_MS_MAX));
  await setTimer(context, deliveryId, dueAtMs);
  return DONE;
}

async function makeAttempt(context: NotifierContext, delivery: LoadedDelivery, place: EndpointPlace, stopping: AbortSignal): Promise<Outcome> {
  let result: AttemptResult | undefined;
  try {
    const { queued } = delivery.state;
    await context.catchUpAccounts();
    const endpoint = context.accounts.findWebhook(queued.webhook_id);
    const request = endpoint && (await composeRequest(context, delivery, endpoint));
    if (!endpoint || !request) return await stop(context, delivery, 'endpoint_deleted');
    // A test is sent whatever the state of its endpoint (D58).
    const isWanted = queued.source.kind === 'test' || (endpoint.enabled && endpoint.activation === queued.activation);
    if (!isWanted) return await stop(context, delivery, 'endpoint_disabled');
    const started = await start(context, delivery, stopping);
    result = await sendAttempt(context, request, stopping);
    // Whoever waits for the endpoint need not wait for our log.
    place.giveBack(reachedBy(result), result.duration_ms);
    return await record(context, delivery, { started, result }, stopping);
  } finally {
    if (!result) place.giveBack();
  }
}

async function stop(context: NotifierContext, { id, queued, state }: LoadedDelivery, reason: EventData<'delivery.stopped'>['reason']): Promise<Outcome> {
  const handled = await handleUnlessRefused(context.store, deliveryDecider, { kind: 'delivery', id }, { type: 'stop', reason }, originOf(context, queued));
  if (handled?.appended) context.logger.info({ delivery_id: id, webhook_id: state.queued.webhook_id, reason }, 'delivery stopped');
  // Refused while an attempt is open: whoever makes it, or its message, comes back here.
  return handled ? DONE : later(SOON_MS);
}

/**
 * Says that an attempt begins, before anything is sent, so that there are never more than five (§6 delivery 2). Two
 * notifiers that have the same delivery cannot both: the second meets a conflict, and its message comes again.
 */
async function start(context: NotifierContext, { id, state, events, queued }: LoadedDelivery, stopping: AbortSignal): Promise<Started> {
  const event = deliveryDecider.decide({ type: 'start_attempt', now: isoTime(context.clock.nowMs()) }, state);
  if (event?.type !== 'delivery.attempt_started') throw new Defect('a delivery that is due does not begin its attempt');
  const origin = originOf(context, queued);
  // Given up after it was stored, it would be an attempt that nobody makes; sent again it is the same event.
  const stored = await retryTransient(() => context.store.append({ kind: 'delivery', id }, afterLast(events), event, origin), stopping);
  return { attempt: event.data.attempt, state: deliveryDecider.evolve(state, event), stored };
}

/** An attempt that has begun: the delivery after that, and the event that says so. */
type Started = { readonly attempt: number; readonly state: DeliveryState; readonly stored: StoredEvent };
type Made = { readonly started: Started; readonly result: AttemptResult };

async function record(context: NotifierContext, { id, queued, state }: LoadedDelivery, { started, result }: Made, stopping: AbortSignal): Promise<Outcome> {
  const { attempt } = started;
  const { terms, clock } = context;
  const isCutOff = result.failure === 'interrupted';
  const command: DeliveryCommand = { type: 'record_attempt', attempt, result, now: isoTime(clock.nowMs()), delays_ms: isCutOff ? AT_ONCE.slice(0, terms.delaysMs.length) : terms.delaysMs };
  const origin = originOf(context, queued);
  // What came of it is known here alone: an outage is waited for.
  const recorded = await retryTransient(() => appendOutcome(context, id, started, command, origin), stopping);
  if (!recorded || recorded.event.type !== 'delivery.attempted') {
    context.logger.warn({ delivery_id: id, attempt, outcome: result.outcome }, 'an attempt was taken for lost before it was recorded');
    return later(SOON_MS);
  }
  told(context, id, recorded, state.queued);
  if (isCutOff) return later(0);
  const next = recorded.event.data.next_attempt_at;
  if (next !== undefined) await setTimer(context, id, Date.parse(next));
  await disableIfFailed(context, { queued: state.queued, result, recorded });
  return DONE;
}

/** Usually nobody has touched the delivery since the attempt began; otherwise it is loaded again. Undefined when it is refused. */
async function appendOutcome({ store }: NotifierContext, id: string, { state, stored }: Started, command: DeliveryCommand, origin: Origin): Promise<StoredEvent | undefined> {
  const aggregate = { kind: 'delivery', id } as const;
  const event = deliveryDecider.decide(command, state);
  if (event === null) throw new Defect('the outcome of an attempt that has begun is nothing new');
  try {
    return await store.append(aggregate, stored, event, origin);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return (await handleUnlessRefused(store, deliveryDecider, aggregate, command, origin))?.appended;
  }
}

/** Says in the log and the figures what came of an attempt; never where it went. */
function told({ logger, figures }: NotifierContext, deliveryId: string, { event, envelope }: StoredEvent, queued: LiveDelivery['queued']): void {
  if (event.type !== 'delivery.attempted') return;
  const { outcome, failure, ...rest } = event.data;
  figures.countAttempt(failure ?? 'delivered');
  logger.info({ delivery_id: deliveryId, webhook_id: queued.webhook_id, event: queued.event, correlation_id: envelope.correlationid, outcome, failure, ...rest }, 'delivery attempted');
}

/** Each command is one of its own: two processes that do the same must not take each other's event for theirs. */
function originOf({ clock }: NotifierContext, queued: StoredEvent): Origin {
  return originFrom(queued, 'notifier', newId(clock.nowMs()), clock.nowMs());
}

async function setTimer({ nc }: NotifierContext, deliveryId: string, dueAtMs: number): Promise<void> {
  await scheduleTimer(nc, { kind: 'webhook_attempt', subjectTokens: [deliveryId], dueAtMs });
}
