import type { ServerResponse } from 'node:http';

/** Aborted when the client has gone, has its answer, or the process stops. */
export function untilOver(response: ServerResponse, stopping: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (response.closed || stopping.aborted) abort();
  // Not AbortSignal.any: what it notes at the signal of the process stays there after the request.
  stopping.addEventListener('abort', abort, { once: true });
  response.once('close', () => {
    stopping.removeEventListener('abort', abort);
    abort();
  });
  return controller.signal;
}
