import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import Koa from 'koa';
import type { ApiState } from '../../../services/api/http/context.ts';
import { startServer } from '../../../services/api/http/server.ts';

/** The server lets go of such a connection within a second. */
const STOP_MS_MAX = 8_000;
/** Before this time a stop cuts nothing off, so it ends early only when no connection is left. */
const GRACE_MS = 60_000;

describe('Bad HTTP', function () {
  this.timeout(20_000);

  it('keeps no connection open when the client never closes its side', async () => {
    const server = await startServer(new Koa<ApiState>(), { port: 0, headers: {}, connections: { perAddressMax: 10, isExempt: () => false } });
    const socket = connect({ host: '127.0.0.1', port: server.port, allowHalfOpen: true });
    socket.write('nonsense\r\n\r\n');
    socket.resume();
    await once(socket, 'end');
    const outcome = await Promise.race([server.stop(GRACE_MS).then(() => 'stopped'), delay(STOP_MS_MAX, 'still open')]);
    socket.destroy();
    expect(outcome).to.equal('stopped');
  });
});
