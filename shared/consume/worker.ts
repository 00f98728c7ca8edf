import { once, setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstream, type Consumer, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConflictError, TransientError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import type { Outcome } from './outcome.ts';
import { Places } from './places.ts';

/** Length of one pull, in ms; an idle slot asks again after it. */
const PULL_MS = 5_000;
/** Pulls of one worker that wait at the server at once; it bounds those of all processes together (512). */
const PULLS_MAX = 8;
/** Wait after the server could not be asked, in ms. */
const UNREACHABLE_WAIT_MS = 500;
/** A message that fails for its own reasons is parked at this failure (D95). */
const FAILURES_MAX = 5;
/** Messages whose failures are remembered; the oldest are forgotten first, and may then fail more often. */
const FAILING_MAX = 10_000;
/** First and longest wait before a failed message comes again, in ms. */
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 30_000;
/** Share of the ack wait after which a running handler says that it is still at work. */
const WORKING_SHARE = 3;
/** Assumed when the server does not tell its ack wait, in ms. */
const ACK_WAIT_MS_DEFAULT = 30_000;

/** A message as a handler sees it. */
export type WorkerMessage = {
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** Sequence in the stream. */
  readonly position: number;
  /** 1 the first time; every message may come more than once. */
  readonly deliveryCount: number;
};

/** A durable consumer (declared in `streams/`) and what is done with its messages. */
export type WorkerDefinition = {
  readonly stream: string;
  readonly durable: string;
  /** How many messages are handled at once. */
  readonly slots: number;
  /** Must have the same effect when it is called twice; `signal` is aborted when the service wants to stop. */
  readonly handle: (message: WorkerMessage, signal: AbortSignal) => Promise<Outcome>;
};

/** A worker at work. `stop` takes no new message and waits for those in hand. */
export type RunningWorker = { readonly stop: () => Promise<void> };

/**
 * Pulls one message for each free slot and acknowledges it after its handler is through. A dependency that is away
 * delays a message for as long as it takes; a message that fails otherwise is parked at the fifth failure: JetStream's
 * advisory about it stays in `ADVISORIES`, the log says so, and the worker goes on.
 */
export async function startWorker(nc: NatsConnection, definition: WorkerDefinition, logger: Logger): Promise<RunningWorker> {
  const stopping = new AbortController();
  // Every message in hand listens to it.
  setMaxListeners(0, stopping.signal);
  const consumer = await jetstream(nc).consumers.get(definition.stream, definition.durable);
  const ackWaitNs = (await consumer.info(true)).config.ack_wait;
  const ackWaitMs = ackWaitNs === undefined ? ACK_WAIT_MS_DEFAULT : ackWaitNs / 1e6;
  const slots = new Places(definition.slots);
  const context: Slot = { slots, failures: new Map(), consumer, definition, ackWaitMs, signal: stopping.signal, logger: logger.child({ consumer: definition.durable }) };
  const pulls = Array.from({ length: Math.min(definition.slots, PULLS_MAX) }, () => runPull(context));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(pulls);
      await slots.allFree();
    },
  };
}

type Slot = { readonly slots: Places; readonly failures: Map<number, number>; readonly consumer: Consumer; readonly definition: WorkerDefinition; readonly ackWaitMs: number; readonly signal: AbortSignal; readonly logger: Logger };

/** Pulls a message whenever a slot is free, which then holds it until its handler is through. */
async function runPull(slot: Slot): Promise<void> {
  for (;;) {
    await slot.slots.take();
    if (slot.signal.aborted) return slot.slots.giveBack();
    const message = await trying(slot, () => pull(slot));
    if (message) void trying(slot, () => deliver(slot, message)).finally(() => slot.slots.giveBack());
    else slot.slots.giveBack();
  }
}

async function trying<T>(slot: Slot, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    slot.logger.warn({ err: error }, 'cannot pull or acknowledge; trying again');
    await delay(UNREACHABLE_WAIT_MS);
    return undefined;
  }
}

/** The next message; nothing after a quiet while, or at once when the service stops. */
async function pull(slot: Slot): Promise<JsMsg | null> {
  const next = slot.consumer.next({ expires: PULL_MS });
  const stopped = new AbortController();
  try {
    const message = await Promise.race([next, once(slot.signal, 'abort', { signal: stopped.signal }).then(() => null)]);
    // What arrives after all is for another process.
    if (!message && slot.signal.aborted) next.then((late) => late?.nak(), () => undefined);
    return message;
  } finally {
    stopped.abort();
  }
}

async function deliver(slot: Slot, message: JsMsg): Promise<void> {
  const bound = { position: message.seq, delivery_count: message.info.deliveryCount };
  const heartbeat = setInterval(() => message.working(), slot.ackWaitMs / WORKING_SHARE);
  let outcome: Outcome;
  try {
    const { subject, data: bytes, seq: position } = message;
    outcome = await slot.definition.handle({ subject, bytes, position, deliveryCount: message.info.deliveryCount }, slot.signal);
  } catch (error) {
    outcome = outcomeOf(error, message.info.deliveryCount, countFailure(slot.failures, message.seq, error));
    slot.logger[outcome.kind === 'park' ? 'error' : 'warn']({ err: error, ...bound }, outcome.kind === 'park' ? 'parked' : 'failed; will be tried again');
  } finally {
    clearInterval(heartbeat);
  }
  if (outcome.kind === 'later') message.nak(outcome.delayMs);
  else if (outcome.kind === 'park') message.term(outcome.reason);
  else await message.ackAck();
}

/**
 * How often a message has failed for its own reasons. Deliveries do not count: a message also comes again because a
 * dependency was away, because it was asked to come later, or because a process ended.
 */
function countFailure(failures: Map<number, number>, position: number, error: unknown): number {
  if (isPassing(error)) return 0;
  const count = (failures.get(position) ?? 0) + 1;
  failures.delete(position);
  if (count < FAILURES_MAX) failures.set(position, count);
  const [oldest] = failures.keys();
  if (failures.size > FAILING_MAX && oldest !== undefined) failures.delete(oldest);
  return count;
}

/** Lies with a dependency, or with others who were faster. */
function isPassing(error: unknown): boolean {
  return error instanceof TransientError || error instanceof ConflictError;
}

function outcomeOf(error: unknown, deliveryCount: number, failures: number): Outcome {
  if (failures >= FAILURES_MAX) {
    return { kind: 'park', reason: error instanceof Error ? error.name : 'unknown' };
  }
  const exponential = RETRY_MS_MIN * 2 ** Math.min(deliveryCount, 10);
  return { kind: 'later', delayMs: Math.round(Math.min(exponential, RETRY_MS_MAX) * (0.5 + Math.random() / 2)) };
}
