import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { ConfigurationError, TransientError } from '../../../shared/errors/errors.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats, requireServer } from '../../../shared/nats/connect.ts';
import { checkDurability } from '../../../shared/nats/durability.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const logger = createLogger('test', 'silent');

describe('the connection to NATS', () => {
  let server: TestNats;
  before(async () => void (server = await startNats()));
  after(() => server.stop());

  it('accepts a server that is new enough', async () => {
    const nc = await connectNats({ url: server.url, name: 'test', logger });
    await requireServer(nc);
    await nc.close();
  });

  it('gives up a bounded time after nobody answered', async () => {
    await expectFailure(connectNats({ url: 'nats://127.0.0.1:1', name: 'test', logger }, 300), TransientError);
  });

  it('says at once that the server refuses the password', async () => {
    const url = new URL(server.url);
    url.password = 'wrong';
    await expectFailure(connectNats({ url: url.href, name: 'test', logger }), ConfigurationError);
  });

  it('says which version it found and which is needed', async () => {
    const old = await startOldServer('2.9.10');
    const nc = await connectNats({ url: old.url, name: 'test', logger });
    expect((await expectFailure(requireServer(nc), ConfigurationError)).message).to.contain('2.9.10').and.to.contain('2.14.0');
    await nc.close();
    await old.stop();
  });

  it('knows from the monitoring address that every write is synced', async () => {
    const nc = await connectNats({ url: server.url, name: 'test', logger });
    expect(await checkDurability(nc, [server.monitorUrl])).to.equal('synced');
    expect(await checkDurability(nc)).to.equal('unknown');
    expect(await checkDurability(nc, [server.monitorUrl, 'http://127.0.0.1:1'])).to.equal('unknown');
    await nc.close();
  });

  it('knows when any server acknowledges before it syncs', async () => {
    const nc = await connectNats({ url: server.url, name: 'test', logger });
    const lax = await startMonitor({ jetstream: { config: { sync_interval: 120_000_000_000 } } });
    expect(await checkDurability(nc, [server.monitorUrl, lax.url])).to.equal('not_synced');
    await lax.stop();
    await nc.close();
  });
});

/** A monitoring page of a server that leaves syncing to its timer. */
async function startMonitor(page: unknown): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const server = createHttpServer((_, response) => response.setHeader('connection', 'close').end(JSON.stringify(page)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${portOf(server)}`, stop: () => new Promise((resolve) => server.close(() => resolve())) };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** Speaks just enough of the protocol to be an old server: its name, and an account without an API level. */
async function startOldServer(version: string): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.write(`INFO ${JSON.stringify({ server_id: 'OLD', version, proto: 1, headers: true, max_payload: 1_048_576, jetstream: true })}\r\n`);
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n')) answer(socket, line);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `nats://127.0.0.1:${portOf(server)}`, stop };
}

function answer(socket: Socket, line: string): void {
  if (line === 'PING') socket.write('PONG\r\n');
  const reply = /^H?PUB \$JS\.API\.INFO (\S+)/.exec(line)?.[1];
  if (reply === undefined) return;
  const body = JSON.stringify({ type: 'io.nats.jetstream.api.v1.account_info_response', api: { total: 0, errors: 0 } });
  socket.write(`MSG ${reply} 1 ${body.length}\r\n${body}\r\n`);
}
