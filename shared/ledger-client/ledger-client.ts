import type { NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { Defect, TransientError } from '../errors/errors.ts';
import { GRANT_SUBJECT, grantReply, HOLD_SUBJECT, holdReply, LEDGER_TIMEOUT_MS, READY_SUBJECT, readyReply } from './messages.ts';
import type { GrantAnswer, GrantRequest, HoldAnswer, HoldRequest } from './messages.ts';

/** How long a health check waits for a ledger, in ms. */
const READY_TIMEOUT_MS = 1_000;

/**
 * Asks the ledger to hold credits for a job (§2.7, D29). Idempotent by `job_id`: after a lost answer ask again with the
 * same one. Throws `TransientError('ledger')` when no ledger answers; then the credits may be held, and a hold whose
 * job never comes into being is released by itself.
 */
export async function requestHold(nc: NatsConnection, request: HoldRequest, timeoutMs: number = LEDGER_TIMEOUT_MS): Promise<HoldAnswer> {
  const reply = await ask(nc, HOLD_SUBJECT, request, holdReply, timeoutMs);
  if (!reply.ok && (reply.code === 'unavailable' || reply.code === 'bad_request')) throw notServed(reply.code);
  return reply;
}

/**
 * Gives an organization credits, through the ledger so that the balance in the answer is exact. Idempotent by
 * `command_id`. Throws `TransientError('ledger')` when no ledger answers; ask again with the same `command_id`.
 */
export async function grantCredits(nc: NatsConnection, request: GrantRequest, timeoutMs: number = LEDGER_TIMEOUT_MS): Promise<GrantAnswer> {
  const reply = await ask(nc, GRANT_SUBJECT, request, grantReply, timeoutMs);
  if (!reply.ok) throw notServed(reply.code);
  return { balance: reply.balance, position: reply.position };
}

/** True when a ledger is there and follows the log; for `/readyz`. */
export async function isLedgerReady(nc: NatsConnection, timeoutMs: number = READY_TIMEOUT_MS): Promise<boolean> {
  try {
    const message = await nc.request(READY_SUBJECT, '', { timeout: timeoutMs });
    return readyReply.safeParse(message.json()).data?.ok === true;
  } catch {
    return false;
  }
}

async function ask<Reply>(nc: NatsConnection, subject: string, request: HoldRequest | GrantRequest, schema: z.ZodType<Reply>, timeoutMs: number): Promise<Reply> {
  const answer = await send(nc, subject, request, timeoutMs);
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw new Defect('the ledger answered what this version does not understand', { cause: parsed.error });
  return parsed.data;
}

async function send(nc: NatsConnection, subject: string, request: HoldRequest | GrantRequest, timeoutMs: number): Promise<unknown> {
  try {
    const message = await nc.request(subject, JSON.stringify(request), { timeout: timeoutMs });
    return JSON.parse(message.string()) as unknown;
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new Defect('the ledger answered something that is not JSON', { cause });
    throw new TransientError('ledger', 'no ledger answers', { cause });
  }
}

function notServed(code: 'unavailable' | 'bad_request'): Error {
  return code === 'unavailable' ? new TransientError('ledger', 'the ledger cannot serve just now') : new Defect('the ledger could not read the request');
}
