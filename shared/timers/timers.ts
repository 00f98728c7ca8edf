import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Defect } from '../errors/errors.ts';
import { isId } from '../ids/ids.ts';
import { toTransient } from '../nats/transient.ts';

/** Where a timer waits, and where it appears when its time has come; consumers filter on the second. */
const SCHEDULED_PREFIX = 'timer.scheduled';
const DUE_PREFIX = 'timer.due';
/** How long a timer that is due stays for a worker that is down, longer than any outage that somebody would sit out. */
const DUE_TTL = '720h';
/** One attempt to reach the server, in ms, and how often it is repeated; setting a timer twice sets it once. */
const REQUEST_TIMEOUT_MS = 2_000;
const REPEATS_MAX = 2;
/** Ids a timer may be about; a subject stays short. */
const TOKENS_MAX = 4;

/** What timers are for. Each has a durable consumer on `timer.due.<kind>.>`, declared in `streams/`. */
const TIMER_KINDS = ['upload_window', 'result_ttl', 'upload_check', 'clean_up', 'simulation_end', 'orphaned_hold', 'webhook_attempt'] as const;
export type TimerKind = (typeof TIMER_KINDS)[number];

/** Names one timer: its kind and the ids it is about. */
export type TimerName = { readonly kind: TimerKind; readonly subjectTokens: readonly string[] };

/** A timer to set: it appears at `dueAtMs` (ms since the epoch), at once when that is past, with `body` as JSON. */
export type Timer = TimerName & { readonly dueAtMs: number; readonly body?: unknown };

/**
 * Sets a durable timer (D89): kept by JetStream, it survives every process and fires up to about 0.3 s late by the
 * server's clock. Set again under the same name it is moved. It may appear more than once, so whoever handles it looks
 * at the state and not at the timer. Throws `TransientError` when the server is away.
 */
export async function scheduleTimer(nc: NatsConnection, timer: Timer): Promise<void> {
  const name = nameOf(timer);
  const body = timer.body === undefined ? '' : JSON.stringify(timer.body);
  const schedule = { specification: new Date(timer.dueAtMs), target: `${DUE_PREFIX}.${name}`, ttl: DUE_TTL };
  try {
    await jetstream(nc).publish(`${SCHEDULED_PREFIX}.${name}`, body, { schedule, timeout: REQUEST_TIMEOUT_MS, retries: REPEATS_MAX });
  } catch (error) {
    throw toTransient(error);
  }
}

/** Subject filter of a consumer for all timers of a kind that are due. */
export function dueFilter(kind: TimerKind): string {
  return `${DUE_PREFIX}.${kind}.>`;
}

/** Kind and ids of a timer that is due. Throws `Defect` when the subject is not one of a timer. */
export function parseDueTimer(subject: string): { readonly kind: TimerKind; readonly tokens: readonly string[] } {
  const [kind, ...tokens] = subject.startsWith(`${DUE_PREFIX}.`) ? subject.slice(DUE_PREFIX.length + 1).split('.') : [];
  const known = TIMER_KINDS.find((name) => name === kind);
  if (known === undefined || !areTokens(tokens)) throw new Defect('a message lies on a subject that no timer has');
  return { kind: known, tokens };
}

function nameOf(timer: TimerName): string {
  if (!areTokens(timer.subjectTokens)) throw new Defect('a timer is about one to four of our ids');
  return [timer.kind, ...timer.subjectTokens].join('.');
}

function areTokens(tokens: readonly string[]): boolean {
  return tokens.length > 0 && tokens.length <= TOKENS_MAX && tokens.every(isId);
}
