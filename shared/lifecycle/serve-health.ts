import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from './run-service.ts';

/** Connections at once; whoever looks after containers needs one. */
const CONNECTIONS_MAX = 10;
/** How long the look may take, in ms; container runtimes give up after a few seconds. */
const LOOK_MS_MAX = 1_000;

/**
 * Answers `GET /healthz` on a port of its own, for a service that has no other: 200 when `look` comes back in time,
 * 503 when it does not. Throws what listening throws, such as `EADDRINUSE`.
 */
export async function serveHealth(port: number, look: () => Promise<unknown>, cleanup: Cleanup): Promise<void> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isAsked = request.url === '/healthz' && (request.method === 'GET' || request.method === 'HEAD');
    const status = isAsked ? await statusOf(look) : 404;
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

async function statusOf(look: () => Promise<unknown>): Promise<number> {
  const patience = new AbortController();
  try {
    const isBack = look().then(() => true);
    return (await Promise.race([isBack, delay(LOOK_MS_MAX, false, { signal: patience.signal })])) ? 200 : 503;
  } catch {
    return 503;
  } finally {
    patience.abort();
  }
}
