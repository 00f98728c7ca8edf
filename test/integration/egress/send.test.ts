import { expect } from 'chai';
import { checkReachable } from '../../../shared/egress/check-reachable.ts';
import { EgressAbortedError, EgressError } from '../../../shared/egress/egress-error.ts';
import { sendTo, type SendRequest } from '../../../shared/egress/send.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { MOVING_NAME, ORIGIN_NAME } from '../../support/egress-bench.ts';
import { Fetching, SHORT_LIMITS } from '../../support/fetching.ts';
import { drip, flood, ORIGIN_ADDRESS, redirect, say, type Behaviour } from '../../support/origin.ts';

const BODY = Buffer.from(JSON.stringify({ id: 'evt_1', name: 'schöne Grüße ✓' }));
const OK = 'HTTP/1.1 200 OK\r\n';
/** Like the ten seconds of the contract, but short. */
const LIMIT_MS = 1_500;
/** Longest time in which an answer's body is read away, and some for a busy machine. */
const READ_AWAY_MS_MAX = 3_000;

describe('A POST to a host that a client names', function () {
  this.timeout(30_000);
  let fetching: Fetching;

  before(async () => {
    fetching = await Fetching.start();
  });
  after(() => fetching.bench.stop());
  afterEach(() => fetching.requireClean());

  function send(url: string, changes: Partial<SendRequest> = {}): ReturnType<typeof sendTo> {
    const request = { url, headers: [['Content-Type', 'application/json'], ['X-A', 'b']] as const, body: BODY, limitMs: LIMIT_MS, signal: new AbortController().signal };
    return sendTo(fetching.bench.options(SHORT_LIMITS), { ...request, ...changes });
  }

  /** The status, or the reason of the failure, which comes within bounds. */
  async function outcome(url: string, changes?: Partial<SendRequest>): Promise<number | string> {
    const startedMs = performance.now();
    const result = await send(url, changes).then(
      ({ statusCode }) => statusCode,
      (error: unknown) => {
        if (error instanceof EgressError) return error.reason;
        if (error instanceof EgressAbortedError) return 'aborted';
        throw error;
      },
    );
    expect(performance.now() - startedMs, 'time').to.be.below(LIMIT_MS + READ_AWAY_MS_MAX);
    return result;
  }

  function behaving(name: string, behave: Behaviour, changes?: Partial<SendRequest>): Promise<number | string> {
    const path = `/${encodeURIComponent(name)}`;
    fetching.bench.origin.on(path, behave);
    return outcome(fetching.bench.url(path), changes);
  }

  function check(url: string): ReturnType<typeof checkReachable> {
    return checkReachable(fetching.bench.options(SHORT_LIMITS), url, { limitMs: LIMIT_MS, signal: new AbortController().signal });
  }

  it('brings the bytes and the headers as they were given, and nothing of an import', async () => {
    fetching.bench.origin.on('/hook', say(`${OK}Content-Length: 2\r\n\r\nok`));
    const { statusCode, durationMs } = await send(fetching.bench.url('/hook'));
    expect([statusCode, durationMs >= 0 && durationMs <= LIMIT_MS]).to.deep.equal([200, true]);
    const { head, headers, body } = fetching.bench.origin.requests.at(-1)!;
    expect(head.split('\r\n')[0]).to.equal('POST /hook HTTP/1.1');
    expect(Object.fromEntries(headers)).to.deep.equal({ host: `${ORIGIN_NAME}:${fetching.bench.origin.port}`, 'content-type': 'application/json', 'x-a': 'b', 'content-length': String(BODY.length), connection: 'close' });
    expect(body.equals(BODY)).to.equal(true);
  });

  it('tells any status as it is, and follows no redirect (§6 delivery 1)', async () => {
    for (const status of [200, 201, 204, 299, 300, 304, 400, 404, 410, 429, 500, 503]) {
      expect(await behaving(`status ${status}`, (socket) => socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`)), String(status)).to.equal(status);
    }
    const before = fetching.bench.origin.requests.length;
    for (const status of [301, 302, 303, 307, 308]) expect(await behaving(`redirect ${status}`, redirect(fetching.bench.url('/hook'), status))).to.equal(status);
    expect(fetching.bench.origin.requests.length - before).to.equal(5);
  });

  describe('Hostile receivers (D70)', () => {
    it('gives up on one that never answers, or sends its head byte by byte, at the end of its time', async () => {
      expect(await behaving('silence', () => undefined)).to.equal('timeout');
      expect(await behaving('slow head', drip(OK, 'X', 100))).to.equal('timeout');
      expect(await behaving('interim drops', drip('', 'HTTP/1.1 102 Processing\r\n\r\n', 100))).to.equal('timeout');
    });

    it('counts looking up and connecting into its time', async () => {
      fetching.bench.names.set('silent.example.test', () => 'silence');
      expect(await outcome(`https://silent.example.test:${fetching.bench.origin.port}/`)).to.equal('timeout');
    });

    it('refuses an endless head, and what is no HTTP', async () => {
      expect(await behaving('endless head', flood(OK, Buffer.from(`X-A: ${'b'.repeat(1000)}\r\n`)))).to.equal('network');
      expect(await behaving('no HTTP', say('SSH-2.0-OpenSSH_9.2\r\n'))).to.equal('network');
      expect(await behaving('another protocol', say('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'))).to.equal('network');
      for (const status of ['000', '099']) expect(await behaving(`status ${status}`, say(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`)), status).to.equal('network');
      expect(await behaving('closed at once', (socket) => socket.destroy())).to.equal('network');
    });

    it('takes the status of an answer whose body is endless, drips, lies or is cut off, and ends it', async () => {
      expect(await behaving('endless body', flood(`${OK}\r\n`, Buffer.alloc(65_536)))).to.equal(200);
      expect(await behaving('a byte a second', drip(`${OK}Content-Length: 1000\r\n\r\n`, 'x', 1_000))).to.equal(200);
      expect(await behaving('silent body', say(`${OK}Content-Length: 1000\r\n\r\n`))).to.equal(200);
      expect(await behaving('longer', say(`${OK}Content-Length: 3\r\n\r\nabcdefgh`))).to.equal(200);
      expect(await behaving('cut off', (socket) => socket.write(`${OK}Content-Length: 10\r\n\r\nabc`, () => socket.destroy()))).to.equal(200);
    });

    it('refuses one whose certificate names another host (§6)', async () => {
      fetching.bench.names.set('stranger.example.test', [ORIGIN_ADDRESS]);
      const before = fetching.bench.origin.requests.length;
      expect(await outcome(`https://stranger.example.test:${fetching.bench.origin.port}/hook`)).to.equal('network');
      expect(fetching.bench.origin.requests.length).to.equal(before);
    });

    it('ends at once when nobody wants it any more', async () => {
      const over = new AbortController();
      const requests = fetching.bench.origin.requests.length;
      const result = behaving('given up', () => undefined, { signal: over.signal });
      await waitFor('the request', 5_000, () => (fetching.bench.origin.requests.length > requests ? true : undefined));
      over.abort();
      expect(await result).to.equal('aborted');
      expect(await outcome(fetching.bench.url('/hook'), { signal: AbortSignal.abort() })).to.equal('aborted');
    });
  });

  describe('Where it may go (§4.6, D55)', () => {
    const refused: Readonly<Record<string, string>> = {
      'http://files.example.test/': 'not_https', 'ftp://files.example.test/': 'not_https', 'nonsense': 'invalid_url', 'https://user:pw@files.example.test/': 'invalid_url',
      'https://127.0.0.1/': 'blocked_address', 'https://10.1.2.3/': 'blocked_address', 'https://0x7f.1/': 'blocked_address', 'https://[::1]/': 'blocked_address', 'https://[fe80::1]/': 'blocked_address',
      'https://169.254.169.254/': 'blocked_address', 'https://localhost/': 'blocked_address', 'https://private.example.test/': 'blocked_address', 'https://mixed.example.test/': 'blocked_address',
      'https://nowhere.example.test/': 'unresolved', 'https://silent.example.test/': 'unresolved',
    };
    for (const [url, reason] of Object.entries(refused)) {
      it(`answers ${reason} for ${url}, and sends nothing there`, async () => {
        fetching.bench.names.set('private.example.test', ['192.168.1.1']);
        fetching.bench.names.set('mixed.example.test', [ORIGIN_ADDRESS, '127.0.0.1']);
        fetching.bench.names.set('silent.example.test', () => 'silence');
        expect(await check(url)).to.equal(reason);
        if (!url.includes('silent')) expect(await outcome(url)).to.equal(reason === 'unresolved' ? 'network' : reason);
      });
    }

    it('refuses at delivery a name that was public when it was registered', async () => {
      let looks = 0;
      fetching.bench.names.set(MOVING_NAME, (type) => (type === 'AAAA' ? [] : looks++ === 0 ? [ORIGIN_ADDRESS] : ['127.0.0.1']));
      const url = `https://${MOVING_NAME}:${fetching.bench.origin.port}/hook`;
      expect([await check(url), await outcome(url)]).to.deep.equal(['reachable', 'blocked_address']);
    });

    it('connects to the address that was checked, though the name means another one a moment later', async () => {
      let looks = 0;
      fetching.bench.names.set(MOVING_NAME, (type) => (type === 'AAAA' ? [] : looks++ === 0 ? [ORIGIN_ADDRESS] : ['127.0.0.1']));
      expect(await outcome(`https://${MOVING_NAME}:${fetching.bench.origin.port}/hook`)).to.equal(200);
      expect(looks).to.equal(1);
    });
  });
});
