import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import type Koa from 'koa';
import { ApiError, envelopeOf } from '../errors/api-error.ts';
import type { ApiState } from './context.ts';

/** A head that takes longer is held back on purpose. */
const HEADERS_MS_MAX = 10_000;
/** A whole upload; it may go on as long as its URL works by default. Standing still is bounded where bodies are read. */
const REQUEST_MS_MAX = 3_600_000;
/** How often the server looks for requests over those limits. */
const CHECK_EVERY_MS = 5_000;
/** Unused connections are kept a little longer than the wait of a long poll, so that a proxy does not race us. */
const KEEP_ALIVE_MS = 30_000;
const HEAD_BYTES_MAX = 16_384;
/** Long polls hold a connection each; above this new ones wait in the system's queue. */
const CONNECTIONS_MAX = 10_000;

/** How long a connection stays for a client to take the refusal of bad HTTP, in ms; who never closes it would hold it for ever. */
const LINGER_MS_MAX = 1_000;

/** A server that listens. */
export type RunningServer = {
  readonly port: number;
  /** Takes no new requests, lets those in hand end within `graceMs`, then cuts them off. */
  readonly stop: (graceMs: number) => Promise<void>;
};

/** Serves the application. Port 0 takes any free one. Rejects when the port cannot be had. */
export async function startServer(app: Koa<ApiState>, port: number): Promise<RunningServer> {
  const server = createServer({
    headersTimeout: HEADERS_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEAD_BYTES_MAX,
    // Node would refuse with an empty answer; the application does it with the envelope.
    requireHostHeader: false,
  });
  server.maxConnections = CONNECTIONS_MAX;
  serve(server, app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, () => resolve());
  });
  const address = server.address();
  return { port: address !== null && typeof address === 'object' ? address.port : port, stop: (graceMs) => stopServer(server, graceMs) };
}

function serve(server: Server, app: Koa<ApiState>): void {
  const answer = app.callback();
  server.on('request', (request, response) => void answer(request, response));
  // Without a listener the server says "continue" by itself, and bodies are sent that will be refused.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => void answer(request, response));
  // What we do not know may be ignored (RFC 9110 §10.1.1); Node would refuse it with an empty answer.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => void answer(request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => answerBadHttp(error.code, socket));
}

/** What cannot be read as HTTP has no request to answer; the envelope and an id of its own go straight onto the socket (D51). */
function answerBadHttp(errorCode: string | undefined, socket: Socket): void {
  if (errorCode === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const error = badHttp(errorCode);
  const requestId = randomUUID();
  const body = JSON.stringify(envelopeOf(error, requestId));
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const cutOff = setTimeout(() => socket.destroy(), LINGER_MS_MAX);
  socket.once('close', () => clearTimeout(cutOff));
}

function badHttp(errorCode: string | undefined): ApiError {
  if (errorCode === 'HPE_HEADER_OVERFLOW') return ApiError.of(431, 'validation_failed', `The headers are larger than ${HEAD_BYTES_MAX} bytes.`, { reason: 'headers_too_large', max_bytes: HEAD_BYTES_MAX });
  if (errorCode === 'ERR_HTTP_REQUEST_TIMEOUT') return ApiError.of(408, 'validation_failed', 'The request did not arrive in time.', { reason: 'request_timeout' });
  return ApiError.of(400, 'validation_failed', 'This is not a valid HTTP request.', { reason: 'bad_http' });
}

async function stopServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(cutOff);
}
