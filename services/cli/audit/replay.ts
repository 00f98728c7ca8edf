import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '../../../shared/errors/errors.ts';
import type { AccountEvent, CreditsEvent, DeliveryEvent, JobEvent } from '../../../shared/events/registry.ts';
import { accountDecider, type AccountCommand, type AccountState } from '../../../shared/domain/account.ts';
import { creditsDecider, type CreditsCommand, type CreditsState } from '../../../shared/domain/credits.ts';
import type { Decider } from '../../../shared/domain/decider.ts';
import { DELIVERY_ATTEMPTS_MAX, deliveryDecider, type DeliveryCommand, type DeliveryState } from '../../../shared/domain/delivery.ts';
import { jobDecider, type JobCommand } from '../../../shared/domain/job.ts';
import type { JobState } from '../../../shared/domain/job-state.ts';

/** The rules would not have made this event in this state. */
export class IllegalEventError extends CodedError {
  readonly code = 'illegal_event';
}

/** Checks a job's event against the rules of today and applies it. `time` is when it was appended. */
export function replayJob(state: JobState, event: JobEvent, time: string): JobState {
  // Deleted by its very first event: the ledger made sure that a job without a hold can never come into being.
  const command: JobCommand = state.kind === 'none' && event.type === 'job.deleted' ? { type: 'abandon' } : jobCommandOf(event, time);
  return replay(jobDecider, command, state, event);
}

/** Checks an event of credits against the rules of today and applies it. */
export function replayCredits(state: CreditsState, event: CreditsEvent): CreditsState {
  return replay(creditsDecider, creditsCommandOf(event), state, event);
}

/** Checks an event of an account against the rules of today and applies it. */
export function replayAccount(state: AccountState, event: AccountEvent): AccountState {
  return replay(accountDecider, accountCommandOf(event), state, event);
}

/** Checks an event of a delivery against the rules of today and applies it. `time` is when it was appended. */
export function replayDelivery(state: DeliveryState, event: DeliveryEvent, time: string): DeliveryState {
  return replay(deliveryDecider, deliveryCommandOf(event, time), state, event);
}

/** Decides anew what the log says was decided: the same event must come out. Throws `IllegalEventError`. */
function replay<State, Command, Event extends { readonly type: string }>(decider: Decider<State, Command, Event>, command: Command, state: State, event: Event): State {
  let decided: Event | null;
  try {
    decided = decider.decide(command, state);
  } catch (cause) {
    throw new IllegalEventError(`${event.type} is not allowed here: ${cause instanceof Error ? cause.message : ''}`, { cause });
  }
  if (!isDeepStrictEqual(plain(decided), plain(event))) throw new IllegalEventError(`${event.type} says something else than the rules`);
  return decider.evolve(state, event);
}

/** Parsed data may lack fields that code sets to undefined; both mean absent. */
function plain(event: unknown): unknown {
  return JSON.parse(JSON.stringify(event));
}

function jobCommandOf(event: JobEvent, time: string): JobCommand {
  switch (event.type) {
    case 'job.created':
      return { type: 'create', data: event.data };
    case 'job.multipart_started':
      return { type: 'start_multipart', plan: event.data };
    case 'job.multipart_completed':
      return { type: 'complete_multipart', file: event.data };
    case 'job.multipart_aborted':
      return { type: 'abort_multipart' };
    case 'job.source_received':
      return { type: 'receive_source', source: event.data };
    case 'job.conversion_started':
      return { type: 'start_conversion', ...event.data };
    case 'job.conversion_interrupted':
      return { type: 'interrupt_conversion', attempt: event.data.attempt };
    case 'job.conversion_progressed':
      return { type: 'report_progress', ...event.data };
    case 'job.finished':
      return { type: 'finish', ...event.data };
    case 'job.failed':
      return event.data.attempt === undefined ? { type: 'fail', error: event.data.error } : { type: 'fail', attempt: event.data.attempt, error: event.data.error };
    case 'job.cancelled':
      return { type: 'cancel' };
    case 'job.expired':
      return { type: 'expire', now: time };
    case 'job.deleted':
      return { type: 'delete' };
    default:
      return event satisfies never;
  }
}

function creditsCommandOf(event: CreditsEvent): CreditsCommand {
  switch (event.type) {
    case 'credits.granted':
      return { type: 'grant', data: event.data };
    case 'credits.held':
      return { type: 'hold', ...event.data };
    case 'credits.charged':
      return { type: 'charge', data: withoutHeld(event.data) };
    case 'credits.released':
      return { type: 'release', job_id: event.data.job_id, reason: event.data.reason };
    default:
      return event satisfies never;
  }
}

function withoutHeld<Data extends { readonly held: number }>({ held: _held, ...rest }: Data): Omit<Data, 'held'> {
  return rest;
}

function accountCommandOf(event: AccountEvent): AccountCommand {
  switch (event.type) {
    case 'account.created':
      return { type: 'create', data: event.data };
    case 'account.plan_changed':
      return { type: 'change_plan', plan: event.data.plan };
    case 'account.api_key_created':
      return { type: 'create_api_key', data: event.data };
    case 'account.api_key_rotated':
      return { type: 'rotate_api_key', data: event.data };
    case 'account.api_key_revoked':
      return { type: 'revoke_api_key', api_key_id: event.data.api_key_id };
    case 'account.webhook_created':
      return { type: 'create_webhook', data: event.data };
    case 'account.webhook_deleted':
      return { type: 'delete_webhook', webhook_id: event.data.webhook_id };
    case 'account.webhook_disabled':
      return { type: 'disable_webhook', data: event.data };
    case 'account.webhook_enabled':
      return { type: 'enable_webhook', data: event.data };
    case 'account.webhook_secret_rotated':
      return { type: 'rotate_webhook_secret', data: event.data };
    default:
      return event satisfies never;
  }
}

function deliveryCommandOf(event: DeliveryEvent, time: string): DeliveryCommand {
  switch (event.type) {
    case 'delivery.queued':
      return { type: 'queue', data: event.data };
    case 'delivery.attempt_started':
      return { type: 'start_attempt', now: event.data.started_at };
    case 'delivery.attempted': {
      const { attempt, next_attempt_at, ...result } = event.data;
      return { type: 'record_attempt', attempt, result, now: time, delays_ms: delaysOf(attempt, time, next_attempt_at) };
    }
    case 'delivery.stopped':
      return { type: 'stop', reason: event.data.reason };
    default:
      return event satisfies never;
  }
}

/** How long a delivery waits, and how often, is a setting; what the log says was it. */
function delaysOf(attempt: number, time: string, nextAt: string | undefined): readonly number[] {
  if (nextAt === undefined) return Array<number>(attempt - 1).fill(0);
  return Array<number>(DELIVERY_ATTEMPTS_MAX - 1).fill(Date.parse(nextAt) - Date.parse(time));
}
