import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type Koa from 'koa';
import { answerBadHttp, badHttp, noProxy } from './bad-http.ts';
import { limitConnections, OpenAnswers, type ConnectionLimits } from './connections.ts';
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
/** Long polls hold a connection each; more than this are closed as they come. */
const CONNECTIONS_MAX = 10_000;
/** Connections that may wait to be taken while the process is busy: every client of a service that restarts comes at once. */
const BACKLOG_MAX = 4_096;
/** After so many requests a connection ends in order, so that clients spread anew over processes that came later. */
const REQUESTS_PER_CONNECTION_MAX = 10_000;

/** A server that listens. */
export type RunningServer = {
  readonly port: number;
  /** Takes no new requests, lets those in hand end within `graceMs`, then cuts them off. */
  readonly stop: (graceMs: number) => Promise<void>;
};

/** Where and how to serve. */
export type ServerOptions = {
  /** 0 takes any free one. */
  readonly port: number;
  /** Headers of answers to what cannot be read as HTTP; the application sets its own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: ConnectionLimits;
  /** How long the head of a request may take, in ms. */
  readonly headersMs?: number;
};

/** Serves the application. Rejects when the port cannot be had. */
export async function startServer(app: Koa<ApiState>, options: ServerOptions): Promise<RunningServer> {
  const { port, headersMs = HEADERS_MS_MAX } = options;
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headersMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEAD_BYTES_MAX,
    // Node would refuse with an empty answer; the application does it with the envelope.
    requireHostHeader: false,
  });
  server.maxConnections = CONNECTIONS_MAX;
  limitConnections(server, options.connections);
  serve(server, app, options.headers);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, backlog: BACKLOG_MAX }, () => resolve());
  });
  const address = server.address();
  return { port: address !== null && typeof address === 'object' ? address.port : port, stop: (graceMs) => stopServer(server, graceMs) };
}

function serve(server: Server, app: Koa<ApiState>, headers: Readonly<Record<string, string>>): void {
  const handle = app.callback();
  const open = new OpenAnswers();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    // Node's own limit would refuse what was sent ahead with an empty answer.
    if (open.note(request.socket, response) >= REQUESTS_PER_CONNECTION_MAX) response.setHeader('Connection', 'close');
    void handle(request, response);
  };
  server.on('request', answer);
  // Without a listener the server says "continue" by itself, and bodies are sent that will be refused.
  server.on('checkContinue', answer);
  // What we do not know may be ignored (RFC 9110 §10.1.1); Node would refuse it with an empty answer.
  server.on('checkExpectation', answer);
  // Without a listener Node would close without a word.
  server.on('connect', ({ socket }: IncomingMessage) => {
    // From here on Node does not look after the connection.
    socket.on('error', () => socket.destroy());
    if (open.isIdle(socket)) answerBadHttp(noProxy(), socket, headers);
    else socket.destroy();
  });
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) => {
    if (code === 'ECONNRESET' || !socket.writable || !open.mayWrite(socket)) socket.destroy();
    else answerBadHttp(badHttp(code, HEAD_BYTES_MAX), socket, headers);
  });
}

async function stopServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(cutOff);
}
