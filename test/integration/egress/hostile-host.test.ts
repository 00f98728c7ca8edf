import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { waitFor } from '../../../services/standalone/processes.ts';
import { fetchUrl } from '../../../shared/egress/fetch.ts';
import { Fetching, FETCH_BYTES_MAX, SHORT_LIMITS } from '../../support/fetching.ts';
import { drip, flood, redirect, say, serve, type Behaviour } from '../../support/origin.ts';

const FILE = randomBytes(50_000);
const OK = 'HTTP/1.1 200 OK\r\n';

describe('A fetch from a hostile host', function () {
  this.timeout(30_000);
  let fetching: Fetching;

  before(async () => {
    fetching = await Fetching.start();
    fetching.bench.origin.on('/file', serve(FILE));
  });
  after(() => fetching.bench.stop());
  afterEach(() => fetching.requireClean());

  describe('Slow and silent hosts (§8 url import 5)', () => {
    it('gives up on a head that does not come, comes drop by drop, or ends half-way', async () => {
      expect(await fetching.behaving('silence', () => undefined)).to.equal('timeout');
      expect(await fetching.behaving('slow head', drip(OK, 'X-A: b\r\n', 100))).to.equal('timeout');
      expect(await fetching.behaving('interim drops', drip('', 'HTTP/1.1 102 Processing\r\n\r\n', 100))).to.equal('timeout');
      expect(await fetching.behaving('half a head', (socket) => socket.end(`${OK}X-A`))).to.equal('network');
      expect(await fetching.behaving('closed at once', (socket) => socket.destroy())).to.equal('network');
      expect(await fetching.behaving('half-closed', (socket) => socket.end())).to.equal('network');
    });

    it('gives up on a body that stops, or comes slower than 10 kB a second', async () => {
      expect(await fetching.behaving('stopped body', say(`${OK}Content-Length: 1000\r\n\r\nabc`))).to.equal('timeout');
      expect(await fetching.behaving('slow body', drip(`${OK}Content-Length: 90000\r\n\r\n`, 'x'.repeat(100), 50))).to.equal('timeout');
      expect(await fetching.behaving('slow chunks', drip(`${OK}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n', 50))).to.equal('timeout');
    });

    it('gives up on everything at the end of its time, redirects included', async () => {
      expect(await fetching.behaving('slowly', (socket, request) => void setTimeout(() => redirect('/slowly')(socket, request), 700), { limits: { totalMs: 1_800 } })).to.equal('timeout');
      expect(await fetching.behaving('steady', drip(`${OK}\r\n`, 'x'.repeat(1500), 50), { maxBytes: 10_000_000, limits: { totalMs: 2_000 } })).to.equal('timeout');
    });

    it('does not blame a host for what our own store takes', async () => {
      const signal = new AbortController().signal;
      const file = await fetchUrl(fetching.bench.options({ ...SHORT_LIMITS, idleMs: 200 }), { url: fetching.bench.url('/file'), headers: [], maxBytes: FETCH_BYTES_MAX, signal }, async (body) => {
        let bytes = 0;
        for await (const chunk of body) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          bytes += (chunk as Uint8Array).length;
        }
        return bytes;
      });
      expect(file).to.equal(FILE.length);
    });

    it('ends at once when nobody wants it any more', async () => {
      for (const [name, behave] of Object.entries({ head: () => undefined, body: drip(`${OK}\r\n`, 'x'.repeat(1500), 50) } satisfies Record<string, Behaviour>)) {
        const over = new AbortController();
        const requests = fetching.bench.origin.requests.length;
        const outcome = fetching.behaving(`abort in the ${name}`, behave, { signal: over.signal });
        await waitFor('the request', 5_000, () => (fetching.bench.origin.requests.length > requests ? true : undefined));
        const abortedMs = performance.now();
        over.abort();
        expect(await outcome).to.equal('aborted');
        expect(performance.now() - abortedMs).to.be.below(500);
      }
      expect(await fetching.outcome(fetching.bench.url('/file'), { signal: AbortSignal.abort() })).to.equal('aborted');
    });
  });

  describe('Lying and broken answers (§8 url import 4)', () => {
    it('refuses a length over the limit before a byte of it, and an endless body at the limit', async () => {
      expect(await fetching.behaving('long', say(`${OK}Content-Length: ${FETCH_BYTES_MAX + 1}\r\n\r\n`))).to.equal(`too large: ${FETCH_BYTES_MAX}`);
      expect(await fetching.behaving('endless', flood(`${OK}\r\n`, Buffer.alloc(65_536)))).to.equal(`too large: ${FETCH_BYTES_MAX}`);
      expect(await fetching.behaving('endless chunks', flood(`${OK}Transfer-Encoding: chunked\r\n\r\n`, Buffer.from(`1000\r\n${'x'.repeat(4096)}\r\n`)))).to.equal(`too large: ${FETCH_BYTES_MAX}`);
      expect(await fetching.behaving('exactly', serve(Buffer.alloc(FETCH_BYTES_MAX)))).to.equal(`${FETCH_BYTES_MAX} bytes`);
    });

    it('refuses a body that is shorter or longer than its length', async () => {
      expect(await fetching.behaving('short', (socket) => socket.end(`${OK}Content-Length: 10\r\n\r\nabc`))).to.equal('network');
      expect(await fetching.behaving('cut off', (socket) => socket.write(`${OK}Content-Length: 10\r\n\r\nabc`, () => socket.destroy()))).to.equal('network');
      expect(await fetching.behaving('longer', say(`${OK}Content-Length: 3\r\n\r\nabcdefgh`))).to.equal('network');
      expect(await fetching.behaving('chunks cut off', (socket) => socket.end(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhel`))).to.equal('network');
      expect(await fetching.behaving('chunks without an end', (socket) => socket.end(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`))).to.equal('network');
    });

    const broken: Readonly<Record<string, string>> = {
      'two lengths': `${OK}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
      'a length and chunks': `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      'a negative length': `${OK}Content-Length: -1\r\n\r\nabc`,
      'a length that is no number': `${OK}Content-Length: 3x\r\n\r\nabc`,
      'chunks of no size': `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n`,
      'compressed chunks': `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      'no HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
      'HTTP of another kind': 'HTTP/9.9 200 OK\r\n\r\n',
      'a head of a megabyte': `${OK}${`X-A: ${'b'.repeat(1000)}\r\n`.repeat(1000)}\r\n`,
      'another protocol': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello',
      'interim answers without end': 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000),
      'twenty-one interim answers': 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(21) + `${OK}Content-Length: 1\r\n\r\na`,
      'an encoding nobody asked for': `${OK}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc`,
      'an encoding in two steps': `${OK}Content-Encoding: identity, br\r\nContent-Length: 3\r\n\r\nabc`,
    };
    for (const [what, text] of Object.entries(broken)) it(`refuses ${what}`, async () => expect(await fetching.behaving(what, say(text))).to.equal('network'));

    it('takes twenty interim answers', async () => {
      expect(await fetching.behaving('twenty interim answers', say(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(20)}${OK}Content-Length: 1\r\n\r\na`))).to.equal('1 bytes');
    });

    it('never unpacks what is compressed (D93)', async () => {
      const bomb = gzipSync(Buffer.alloc(50_000_000));
      expect(await fetching.behaving('bomb', serve(bomb, { 'Content-Encoding': 'gzip' }))).to.equal('network');
      expect(await fetching.behaving('silent bomb', serve(bomb))).to.equal(`${bomb.length} bytes`);
    });
  });
});
