import { deliveryHeaders } from '../../../shared/webhooks/sign.ts';
import type { ComposedEvent } from './compose-event.ts';

/** How long a receiver may take, in ms: as long as a real one (§6 delivery 1). */
const ANSWER_MS_MAX = 10_000;

/** What came of it: the status of the answer, or why there was none. */
export type Outcome = { readonly statusCode: number; readonly durationMs: number } | { readonly failure: string; readonly durationMs: number };

/** Posts an event to a local receiver, signed as a real delivery is; redirects are not followed. Never throws for what the receiver does. */
export async function forward({ url, secret }: { readonly url: string; readonly secret: string }, { eventId, body }: ComposedEvent, signal: AbortSignal): Promise<Outcome> {
  const startedAt = performance.now();
  const took = (): number => Math.round(performance.now() - startedAt);
  const limit = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    const headers = deliveryHeaders({ eventId, body, nowMs: Date.now() }, [secret]).map(([name, value]): [string, string] => [name, value]);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.any([limit, signal]) });
    const durationMs = took();
    await response.body?.cancel();
    return { statusCode: response.status, durationMs };
  } catch (error) {
    return { failure: limit.aborted ? 'no answer within 10 seconds' : reasonOf(error), durationMs: took() };
  }
}

/** `fetch` alone says "fetch failed"; what failed stands in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code === 'ECONNREFUSED' ? 'nobody listens there' : cause.code;
  return cause instanceof Error ? cause.message : 'network';
}
