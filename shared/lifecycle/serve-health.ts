import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isTrueWithin } from './is-true-within.ts';
import type { Cleanup } from './run-service.ts';

/** Connections at once; whoever looks after containers needs one. */
const CONNECTIONS_MAX = 10;
/** How long the look may take, in ms; container runtimes give up after a few seconds. */
const LOOK_MS_MAX = 1_000;

/**
 * Answers `GET /healthz` on a port of its own, for a service that has no other: 200 when `look` comes back in time,
 * 503 when it does not. `GET /metrics` answers `metrics` where there are any. Throws what listening throws, such as `EADDRINUSE`.
 */
export async function serveHealth(port: number, look: () => Promise<unknown>, cleanup: Cleanup, metrics?: () => string): Promise<void> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (metrics && isRead && request.url === '/metrics') {
      return answerMetrics(response, metrics);
    }
    const isAsked = isRead && request.url === '/healthz';
    const status = !isAsked ? 404 : (await isTrueWithin(LOOK_MS_MAX, () => look().then(() => true))) ? 200 : 503;
    response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
    response.end(JSON.stringify({ status: status === 200 ? 'ok' : 'away' }));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(port);
  await once(server, 'listening');
  cleanup.add('health', () => {
    server.close();
    server.closeAllConnections();
  });
}

function answerMetrics(response: ServerResponse, metrics: () => string): void {
  let text: string | undefined;
  try {
    text = metrics();
  } catch {
    // While the process ends, what they are read from may be closed already.
  }
  response.writeHead(text === undefined ? 503 : 200, { 'Content-Type': 'text/plain; version=0.0.4', Connection: 'close' });
  response.end(text);
}
