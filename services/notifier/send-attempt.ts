import { EgressAbortedError, EgressError, type EgressReason } from '../../shared/egress/egress-error.ts';
import { sendTo } from '../../shared/egress/send.ts';
import type { AttemptResult } from '../../shared/domain/delivery.ts';
import { deliveryHeaders } from '../../shared/webhooks/sign.ts';
import type { ComposedRequest } from './compose-request.ts';
import type { NotifierContext } from './context.ts';
import type { Reached } from './endpoint-places.ts';

/** Time that an attempt still gets when the service stops, in ms; most receivers have answered by then. */
const STOP_GRACE_MS = 500;

/** What an attempt whose end nobody waits for comes to. */
const INTERRUPTED = 'interrupted';

/**
 * Makes one attempt, signed with the time of now (D66), and tells what came of it: 2xx is delivered, everything else is
 * not (§6 delivery 1 and 2). It throws nothing of the network. `stopping` cuts it off after a moment.
 */
export async function sendAttempt({ wayOut, terms, clock }: NotifierContext, { url, eventId, body, secrets }: ComposedRequest, stopping: AbortSignal): Promise<AttemptResult> {
  const startedMs = performance.now();
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const endSoon = (): void => void (timer ??= setTimeout(() => over.abort(), STOP_GRACE_MS));
  stopping.addEventListener('abort', endSoon);
  if (stopping.aborted) endSoon();
  try {
    const headers = deliveryHeaders({ eventId, body, nowMs: clock.nowMs() }, secrets);
    const { statusCode, durationMs } = await sendTo(wayOut, { url, headers, body, limitMs: terms.timeoutMs, signal: over.signal });
    return { ...judge(statusCode), status_code: statusCode, duration_ms: durationMs };
  } catch (error) {
    return { outcome: 'failed', failure: failureOf(error), duration_ms: Math.round(performance.now() - startedMs) };
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', endSoon);
  }
}

/** What the next attempts at the endpoint learn from it; nothing from one that we cut off. */
export function reachedBy({ outcome, failure }: AttemptResult): Reached | undefined {
  if (outcome === 'delivered') return 'success';
  if (failure === INTERRUPTED) return undefined;
  return failure === 'http_status' || failure === 'redirect' ? 'answer' : 'unreachable';
}

function judge(statusCode: number): Pick<AttemptResult, 'outcome' | 'failure'> {
  if (statusCode >= 200 && statusCode < 300) return { outcome: 'delivered' };
  return { outcome: 'failed', failure: statusCode >= 300 && statusCode < 400 ? 'redirect' : 'http_status' };
}

function failureOf(error: unknown): NonNullable<AttemptResult['failure']> {
  if (error instanceof EgressAbortedError) return INTERRUPTED;
  if (error instanceof EgressError) return FAILURES[error.reason];
  throw error;
}

/** The reasons of fetches that a POST never has are those of the network. */
const FAILURES: Readonly<Record<EgressReason, NonNullable<AttemptResult['failure']>>> = {
  blocked_address: 'blocked_address',
  not_https: 'not_https',
  invalid_url: 'invalid_url',
  timeout: 'timeout',
  network: 'network',
  too_many_redirects: 'network',
  http_status: 'network',
};
