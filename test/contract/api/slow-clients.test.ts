import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { ApiState } from '../../../services/api/http/context.ts';
import { startServer, type RunningServer } from '../../../services/api/http/server.ts';
import { WaitPlaces } from '../../../services/api/long-poll/wait-places.ts';
import { boundBody } from '../../../services/api/middleware/bound-body.ts';
import { waitFor } from '../../../services/standalone/processes.ts';

/** So long the server of these tests waits for a head and for a body. */
const PATIENCE_MS = 300;
/** Well before this the server lets go. */
const LIMIT_MS = 10_000;

describe('Slow and greedy clients', function () {
  this.timeout(30_000);
  let server: RunningServer;
  let requests: string[];

  before(async () => {
    const app = new Koa<ApiState>();
    app.use(async (ctx, next) => {
      ctx.state.match = { kind: 'none' };
      requests.push(`${ctx.method} ${ctx.path}`);
      await next();
    });
    app.use(boundBody(PATIENCE_MS));
    app.use(async (ctx) => {
      if (ctx.path === '/held') await once(ctx.req, 'close');
      else ctx.body = 'answered';
    });
    app.silent = true;
    server = await startServer(app, { port: 0, headersMs: PATIENCE_MS, headers: { 'X-Of-Every-Answer': 'yes' }, connections: { perAddressMax: 3, isExempt: () => false } });
  });
  beforeEach(() => (requests = []));
  after(() => server.stop(0));

  function open(text: string): { readonly socket: Socket; readonly closed: Promise<string> } {
    const socket = connect({ host: '127.0.0.1', port: server.port });
    socket.write(text);
    let answer = '';
    socket.setEncoding('utf8').on('data', (part: string) => (answer += part));
    socket.on('error', () => undefined);
    return { socket, closed: once(socket, 'close', { signal: AbortSignal.timeout(LIMIT_MS) }).then(() => answer) };
  }

  it('who hold the head of a request back are told so and let go (D51)', async () => {
    const answer = await open('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ').closed;
    expect(answer).to.match(/^HTTP\/1\.1 408 /).and.to.include('request_timeout').and.to.include('X-Request-Id: ').and.to.include('X-Of-Every-Answer: yes');
    expect(requests).to.deep.equal([]);
  });

  it('who hold a body back are let go, also where nobody reads it', async () => {
    const { closed } = open('POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc');
    await closed;
    expect(requests).to.deep.equal(['POST /held']);
    const unread = open('GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc');
    expect(await unread.closed).to.match(/^HTTP\/1\.1 200 /);
  });

  it('who hide a second request in the first get one refusal, and the connection ends', async () => {
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const head of [
      `Content-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `Transfer-Encoding: chunked\r\nContent-Length: ${hidden.length}\r\n\r\n0\r\n\r\n`,
      'Content-Length: 0\r\nContent-Length: 5\r\n\r\n',
      'Content-Length: +5\r\n\r\nhello',
      'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
      'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
      'Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
    ]) {
      requests = [];
      const answer = await open(`POST / HTTP/1.1\r\nHost: x\r\n${head}${hidden}`).closed;
      expect(requests, head).not.to.include('GET /hidden');
      expect(answer.match(/HTTP\/1\.1 /g) ?? [], head).to.have.length.at.most(1);
    }
  });

  it('who send nonsense behind requests that wait for their answer do not get it in the place of one', async () => {
    const held = 'GET /held HTTP/1.1\r\nHost: x\r\n\r\n';
    expect(await open(`${held}${held}nonsense\r\n\r\n`).closed).to.equal('');
  });

  it('who open too many connections get no more, until they close some', async () => {
    const ask = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    const kept = [open(ask), open(ask), open(ask)];
    await Promise.all(kept.map(({ socket }) => once(socket, 'data')));
    expect(await open(ask).closed).to.equal('');
    for (const { socket } of kept) socket.destroy();
    await waitFor('a place', LIMIT_MS, async () => {
      const answer = await open('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n').closed;
      return answer.includes('answered') || undefined;
    });
  });

  it('who wait find 600 places a key and 5,000 a process, and each is given back (D33)', () => {
    const places = new WaitPlaces();
    const taken = Array.from({ length: 10 }, (_none, key) => Array.from({ length: 601 }, () => places.take(`key-${key}`))).map((ofKey) => ofKey.filter((place) => place !== undefined));
    expect(taken.map(({ length }) => length)).to.deep.equal([...Array.from({ length: 8 }, () => 600), 200, 0]);
    for (const giveBack of taken.flat()) giveBack();
    expect(places.take('key-9')).not.to.equal(undefined);
  });
});
