import { once } from 'node:events';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { TestIdentity } from './certificates.ts';

/** The one address of loopback that tests let requests through to; all others prove that nothing else is reached. */
export const ORIGIN_ADDRESS = '127.0.0.2';

/** A request as it arrived, byte for byte. */
export type OriginRequest = { readonly path: string; readonly head: string; readonly headers: ReadonlyMap<string, string>; readonly body: Buffer };

/** What the origin does with a request; it writes its answer itself, honest or not. */
export type Behaviour = (socket: TLSSocket, request: OriginRequest) => void;

/** A host of a test that files are fetched from. */
export interface Origin {
  readonly port: number;
  /** Requests so far, oldest first. */
  readonly requests: readonly OriginRequest[];
  /** Connections that are open now. */
  openConnections(): number;
  on(path: string, behave: Behaviour): void;
  stop(): Promise<void>;
}

/** Starts an origin on `ORIGIN_ADDRESS`. Paths without a behaviour are answered 404. */
export async function startOrigin(identity: TestIdentity): Promise<Origin> {
  const behaviours = new Map<string, Behaviour>();
  const requests: OriginRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ ...identity, ALPNProtocols: ['http/1.1'] }, (socket) => {
    let bytes = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const request = parseRequest(bytes);
      if (!request) return;
      bytes = Buffer.alloc(0);
      requests.push(request);
      (behaviours.get(request.path) ?? sayNotFound)(socket, request);
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  const port = await listen(server, ORIGIN_ADDRESS);
  return {
    port,
    requests,
    openConnections: () => sockets.size,
    on: (path, behave) => void behaviours.set(path, behave),
    stop: () => stopServer(server, sockets),
  };
}

/** A listener that nothing may ever reach. */
export interface Trap {
  readonly port: number;
  hits(): number;
  stop(): Promise<void>;
}

/** Starts a trap on an address of loopback. */
export async function startTrap(address: string, port = 0): Promise<Trap> {
  let hits = 0;
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    hits += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  const taken = await listen(server, address, port);
  return { port: taken, hits: () => hits, stop: () => stopServer(server, sockets) };
}

/** An answer with status 200 and its right length. */
export function serve(body: Uint8Array, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return (socket) => {
    const lines = Object.entries({ 'Content-Length': String(body.length), ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`), body]));
  };
}

/** An answer as it is given, in one piece; the connection stays open. */
export function say(...parts: readonly (string | Uint8Array)[]): Behaviour {
  return (socket) => void socket.write(Buffer.concat(parts.map((part) => Buffer.from(part))));
}

/** A redirect to `location`. */
export function redirect(location: string, status = 302): Behaviour {
  return (socket) => socket.end(`HTTP/1.1 ${status} Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
}

/** Begins with `first`, then sends `piece` again and again for as long as anybody listens. */
export function drip(first: string | Uint8Array, piece: string | Uint8Array, everyMs: number): Behaviour {
  return (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on('close', () => clearInterval(timer));
  };
}

/** Sends without end, as fast as it is taken. */
export function flood(first: string, piece: Uint8Array): Behaviour {
  return (socket) => {
    socket.write(first);
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    more();
  };
}

const sayNotFound: Behaviour = (socket) => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');

/** Undefined until all of it is there. */
function parseRequest(bytes: Buffer): OriginRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
  const body = bytes.subarray(end + 4);
  if (body.length < Number(headers.get('content-length') ?? 0)) return undefined;
  return { path: first.split(' ')[1] ?? '', head, headers, body };
}

async function listen(server: Server, address: string, port = 0): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('a server has no port');
  return bound.port;
}

async function stopServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  for (const socket of sockets) socket.destroy();
  await closed;
}
