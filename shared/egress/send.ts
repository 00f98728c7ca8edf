import type { IncomingMessage } from 'node:http';
import { ask, type WayOut } from './ask.ts';
import { EgressAbortedError, EgressError } from './egress-error.ts';
import type { Header } from './header-rules.ts';
import { checkUrl } from './url-rule.ts';

/** Most of an answer's body that is read, in bytes (D70); it is thrown away, and nothing depends on it. */
const ANSWER_BYTES_MAX = 65_536;
/** Time for that, in ms: a polite host has sent a short answer by then, and one that drips holds no place for longer. */
const ANSWER_MS_MAX = 1_000;
/** The parser takes any three digits for a status; what is less than this is no answer of HTTP. */
const STATUS_MIN = 100;

/** What to send where; `limitMs` bounds looking up, connecting, TLS, sending and the whole head of the answer together. */
export type SendRequest = {
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  readonly limitMs: number;
  readonly signal: AbortSignal;
};

/** Status of the answer, whatever it is, and the time until its head was there, in ms. */
export type SendResult = { readonly statusCode: number; readonly durationMs: number };

/**
 * Sends a POST to a URL that a client named (§4.6, §6, D70). The URL is checked, looked up, connected and compared anew
 * as for a fetch, so a name that means a private address by now is refused (D55). No redirect is followed. Whatever
 * happens, nothing of it is left when this returns. Throws `EgressError` `invalid_url`, `not_https`, `blocked_address`,
 * `timeout`, `network`, and `EgressAbortedError`.
 */
export async function sendTo(wayOut: WayOut, { url, headers, body, limitMs, signal }: SendRequest): Promise<SendResult> {
  const startedMs = performance.now();
  const over = new AbortController();
  let isTimeout = false;
  const giveUp = (): void => over.abort();
  const timer = setTimeout(() => {
    isTimeout = true;
    giveUp();
  }, limitMs);
  signal.addEventListener('abort', giveUp);
  if (signal.aborted) giveUp();
  try {
    const to = checkUrl(url, wayOut.isAllowed);
    const answer = await ask(wayOut, to, { message: { headers, body }, connectMs: limitMs, headMs: limitMs, signal: over.signal });
    clearTimeout(timer);
    const durationMs = Math.round(performance.now() - startedMs);
    const { statusCode = 0 } = answer;
    if (statusCode < STATUS_MIN) {
      answer.destroy();
      throw new EgressError('network');
    }
    await readAway(answer, over.signal);
    return { statusCode, durationMs };
  } catch (error) {
    // Every step only knows that it was given up; why, is known here.
    throw isTimeout && error instanceof EgressAbortedError ? new EgressError('timeout') : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

/** Reads an answer to its end or its bound and closes it: many hosts take a connection that is cut for a failure. */
async function readAway(answer: IncomingMessage, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, ANSWER_MS_MAX);
    signal.addEventListener('abort', () => resolve());
    answer.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) resolve();
    });
    answer.on('error', () => resolve());
    answer.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  }).finally(() => answer.destroy());
}
