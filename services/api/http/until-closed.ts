import type { ServerResponse } from 'node:http';

/** Aborted when the client has gone, or has its answer. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.closed) controller.abort();
  else response.once('close', () => controller.abort());
  return controller.signal;
}
