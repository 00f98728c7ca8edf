import type { IncomingMessage } from 'node:http';
import { AnswerTooLargeError, EgressError, toEgressError } from './egress-error.ts';
import type { EgressLimits } from './limits.ts';

/** Bounds of a body. */
export type BodyLimits = Pick<EgressLimits, 'idleMs' | 'bytesPerSecondMin'> & { readonly maxBytes: number };

/**
 * Refuses an answer whose head already says that its body cannot be taken: too long, or encoded although nothing was
 * offered. Throws `AnswerTooLargeError`, `EgressError` `network`.
 */
export function checkHead(answer: IncomingMessage, maxBytes: number): void {
  const { 'content-encoding': contentEncoding = '', 'transfer-encoding': transferEncoding = 'chunked', 'content-length': length } = answer.headers;
  if (!['', 'identity'].includes(contentEncoding.trim().toLowerCase())) throw new EgressError('network');
  if (transferEncoding.trim().toLowerCase() !== 'chunked') throw new EgressError('network');
  if (length !== undefined && Number(length) > maxBytes) throw new AnswerTooLargeError(maxBytes);
}

/**
 * The bytes of an answer, counted and timed as they pass, whatever its head says. Only the time spent waiting for the
 * far side counts, so that a slow store of ours is never blamed on it. `failure` is told by whoever ended the answer
 * meanwhile. Throws `AnswerTooLargeError`, `EgressError` `timeout`, `network`; the answer is gone afterwards.
 */
export async function* readBody(answer: IncomingMessage, limits: BodyLimits, failure: () => Error | undefined): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let waitedMs = 0;
  let timeout: EgressError | undefined;
  const chunks = answer.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const startedMs = performance.now();
      const timer = setTimeout(() => {
        timeout = new EgressError('timeout');
        answer.destroy();
      }, limits.idleMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      waitedMs += performance.now() - startedMs;
      if (next.done === true) break;
      const chunk = asBytes(next.value);
      bytes += chunk.length;
      if (bytes > limits.maxBytes) throw new AnswerTooLargeError(limits.maxBytes);
      if (waitedMs > limits.idleMs && bytes < (limits.bytesPerSecondMin * waitedMs) / 1000) throw new EgressError('timeout');
      yield chunk;
    }
    // A connection that was closed early ends a body without a length like one that is whole.
    if (!answer.complete) throw new EgressError('network');
  } catch (error) {
    throw timeout ?? failure() ?? toEgressError(error);
  } finally {
    answer.destroy();
  }
}

function asBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new EgressError('network');
}
