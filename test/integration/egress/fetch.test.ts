import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Header } from '../../../shared/egress/header-rules.ts';
import { EMPTY_ADDRESS, MOVING_NAME, ORIGIN_NAME, OTHER_NAME } from '../../support/egress-bench.ts';
import { Fetching } from '../../support/fetching.ts';
import { ORIGIN_ADDRESS, redirect, say, serve } from '../../support/origin.ts';

const FILE = randomBytes(50_000);
const OK = 'HTTP/1.1 200 OK\r\n';

describe('A fetch from a host that a client names', function () {
  this.timeout(30_000);
  let fetching: Fetching;

  before(async () => {
    fetching = await Fetching.start();
    fetching.bench.origin.on('/file', serve(FILE));
  });
  after(() => fetching.bench.stop());
  afterEach(() => fetching.requireClean());

  it('brings the bytes, whether the answer names its length, is chunked, or ends with its connection', async () => {
    expect(await fetching.fetch(fetching.bench.url('/file'))).to.deep.equal(FILE);
    fetching.bench.origin.on('/chunked', say(`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`));
    expect((await fetching.fetch(fetching.bench.url('/chunked'))).toString()).to.equal('hello world');
    fetching.bench.origin.on('/until-end', (socket) => socket.end(`${OK}\r\nhello`));
    expect((await fetching.fetch(fetching.bench.url('/until-end'))).toString()).to.equal('hello');
    fetching.bench.origin.on('/interim', say('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', `${OK}Content-Length: 5\r\nContent-Encoding: identity\r\n\r\nhello`));
    expect((await fetching.fetch(fetching.bench.url('/interim'))).toString()).to.equal('hello');
  });

  it('sends what a host expects, asks for no encoding, and adds the headers of the client (§8 url import 2)', async () => {
    await fetching.fetch(fetching.bench.url('/file'), { headers: [['Authorization', 'Bearer abc'], ['__proto__', 'x'], ['user-agent', 'mine']] });
    const { head, headers } = fetching.bench.origin.requests.at(-1)!;
    expect(head.split('\r\n')[0]).to.equal('GET /file HTTP/1.1');
    expect(Object.fromEntries(headers)).to.deep.equal(JSON.parse(`{"host": "${ORIGIN_NAME}:${fetching.bench.origin.port}", "accept": "*/*", "accept-encoding": "identity", "authorization": "Bearer abc", "__proto__": "x", "user-agent": "mine", "connection": "close"}`));
    await fetching.fetch(fetching.bench.url('/file'));
    expect(fetching.bench.origin.requests.at(-1)!.headers.get('user-agent')).to.equal('Service-Import/1');
  });

  it('fetches from an address that is named literally and vouched for', async () => {
    expect(await fetching.fetch(`https://${ORIGIN_ADDRESS}:${fetching.bench.origin.port}/file`)).to.deep.equal(FILE);
  });

  function nameUrl(name: string): string {
    return `https://${name}:${fetching.bench.origin.port}/file`;
  }

  describe('Redirects (§8 url import 3)', () => {
    it('follows three and fails at the fourth', async () => {
      fetching.bench.origin.on('/r1', redirect('/file', 301));
      fetching.bench.origin.on('/r2', redirect('r1', 307));
      fetching.bench.origin.on('/r3', redirect(fetching.bench.url('/r2'), 308));
      fetching.bench.origin.on('/r4', redirect(`//${ORIGIN_NAME}:${fetching.bench.origin.port}/r3`, 303));
      expect(await fetching.fetch(fetching.bench.url('/r3'))).to.deep.equal(FILE);
      expect(await fetching.outcome(fetching.bench.url('/r4'))).to.equal('too_many_redirects');
    });

    it('ends a loop', async () => expect(await fetching.behaving('loop', redirect('/loop'))).to.equal('too_many_redirects'));

    const targets: Readonly<Record<string, string>> = {
      'http://files.example.test/': 'not_https', 'file:///etc/passwd': 'not_https', 'gopher://127.0.0.1/': 'not_https', 'https://user:secret@files.example.test/': 'invalid_url', 'https://@files.example.test/': 'invalid_url',
      'https://127.0.0.1:PORT/': 'blocked_address', 'https://127.1:PORT/': 'blocked_address', '//2130706433:PORT/': 'blocked_address', 'https://[::1]:PORT/': 'blocked_address', 'https://[::ffff:127.0.0.1]:PORT/': 'blocked_address', 'https://[::ffff:127.0.0.2]:PORT/': 'blocked_address',
      'https://169.254.169.254/latest/meta-data/': 'blocked_address', 'https://localhost:PORT/': 'blocked_address', 'https://metadata.google.internal/': 'blocked_address', '/\\127.0.0.1:PORT/': 'invalid_url', 'https://private.example.test:PORT/': 'blocked_address', 'https://nowhere.example.test/': 'network',
    };
    for (const [target, reason] of Object.entries(targets)) {
      it(`answers ${reason} when led to ${target}`, async () => {
        fetching.bench.names.set('private.example.test', ['127.0.0.1']);
        expect(await fetching.behaving(`to ${target}`, redirect(target.replace('PORT', String(fetching.bench.origin.port))))).to.equal(reason);
      });
    }

    it('refuses one that leads nowhere, and any status that is no redirect', async () => {
      expect(await fetching.behaving('no location', say('HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n'))).to.equal('http_status');
      for (const status of [201, 204, 206, 300, 304, 400, 401, 403, 404, 410, 429, 500, 503]) {
        expect(await fetching.behaving(`status ${status}`, say(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\nLocation: /file\r\n\r\n`)), String(status)).to.equal('http_status');
      }
    });

    it('drops the headers of the client at the first change of host or port, and never sends them again (§8 url import 2, D83)', async () => {
      const { origin, otherOrigin } = fetching.bench;
      const headers: readonly Header[] = [['X-Secret', 'abc']];
      const secretsOf = async (path: string): Promise<readonly (string | undefined)[]> => {
        const before = [origin.requests.length, otherOrigin.requests.length] as const;
        await fetching.fetch(fetching.bench.url(path), { headers });
        return [...origin.requests.slice(before[0]), ...otherOrigin.requests.slice(before[1])].map((request) => request.headers.get('x-secret'));
      };
      origin.on('/same', redirect('/file'));
      expect(await secretsOf('/same')).to.deep.equal(['abc', 'abc']);
      otherOrigin.on('/file', serve(FILE));
      origin.on('/port', redirect(`https://${ORIGIN_NAME}:${otherOrigin.port}/file`));
      expect(await secretsOf('/port')).to.deep.equal(['abc', undefined]);
      origin.on('/host', redirect(`https://${OTHER_NAME}:${origin.port}/file`));
      expect(await secretsOf('/host')).to.deep.equal(['abc', undefined]);
      otherOrigin.on('/back', redirect(fetching.bench.url('/file')));
      origin.on('/away', redirect(`https://${ORIGIN_NAME}:${otherOrigin.port}/back`));
      expect(await secretsOf('/away')).to.deep.equal(['abc', undefined, undefined]);
    });

    it('keeps no cookie', async () => {
      fetching.bench.origin.on('/cookie', (socket) => socket.end('HTTP/1.1 302 Found\r\nSet-Cookie: a=b\r\nLocation: /file\r\nContent-Length: 0\r\n\r\n'));
      await fetching.fetch(fetching.bench.url('/cookie'));
      expect(fetching.bench.origin.requests.at(-1)!.headers.has('cookie')).to.equal(false);
    });
  });

  describe('Names (§8 url import 3, D83)', () => {
    const answers: Readonly<Record<string, readonly [readonly string[], string]>> = {
      'a private address': [['127.0.0.1'], 'blocked_address'],
      'a private IPv6 address': [['::1'], 'blocked_address'],
      'an address that only looks public': [['64:ff9b::7f00:1'], 'blocked_address'],
      'a good and a private address': [[ORIGIN_ADDRESS, '127.0.0.1'], 'blocked_address'],
      'a good address and a private one of the other kind': [[ORIGIN_ADDRESS, '::1'], 'blocked_address'],
    };
    for (const [what, [addresses, reason]] of Object.entries(answers)) {
      it(`answers ${reason} to a name with ${what}`, async () => {
        fetching.bench.names.set('attack.example.test', addresses);
        expect(await fetching.outcome(nameUrl('attack.example.test'))).to.equal(reason);
      });
    }

    it('follows an alias, and refuses one that leads to a private address', async () => {
      fetching.bench.names.set(OTHER_NAME, (type) => (type === 'A' ? ['alias.example.test', ORIGIN_ADDRESS] : []));
      expect(await fetching.fetch(nameUrl(OTHER_NAME))).to.deep.equal(FILE);
      fetching.bench.names.set('attack.example.test', (type) => (type === 'A' ? ['alias.example.test', '127.0.0.1'] : []));
      expect(await fetching.outcome(nameUrl('attack.example.test'))).to.equal('blocked_address');
      fetching.bench.names.set(OTHER_NAME, [ORIGIN_ADDRESS]);
    });

    it('connects to the address that was checked, though the name means another one a moment later', async () => {
      let looks = 0;
      fetching.bench.names.set(MOVING_NAME, (type) => (type === 'AAAA' ? [] : looks++ === 0 ? [ORIGIN_ADDRESS] : ['127.0.0.1']));
      expect(await fetching.fetch(nameUrl(MOVING_NAME))).to.deep.equal(FILE);
      expect(looks).to.equal(1);
      expect(await fetching.outcome(nameUrl(MOVING_NAME))).to.equal('blocked_address');
    });

    it('looks a name up again for each redirect', async () => {
      let looks = 0;
      fetching.bench.names.set(MOVING_NAME, (type) => (type === 'AAAA' ? [] : looks++ === 0 ? [ORIGIN_ADDRESS] : ['127.0.0.1']));
      const requests = fetching.bench.origin.requests.length;
      fetching.bench.origin.on('/rebind', redirect(nameUrl(MOVING_NAME)));
      expect(await fetching.outcome(nameUrl(MOVING_NAME).replace('/file', '/rebind'))).to.equal('blocked_address');
      expect([looks, fetching.bench.origin.requests.length - requests]).to.deep.equal([2, 1]);
    });

    it('tells a name that does not exist, a DNS that fails and one that is silent', async () => {
      expect(await fetching.outcome(nameUrl('nowhere.example.test'))).to.equal('network');
      fetching.bench.names.set('failing.example.test', () => 'failure');
      expect(await fetching.outcome(nameUrl('failing.example.test'))).to.equal('network');
      fetching.bench.names.set('silent.example.test', () => 'silence');
      expect(await fetching.outcome(nameUrl('silent.example.test'))).to.equal('timeout');
    });

    it('tries another address when the first cannot be reached', async () => {
      fetching.bench.names.set(ORIGIN_NAME, (type) => (type === 'A' ? [EMPTY_ADDRESS, ORIGIN_ADDRESS] : []));
      const outcome = await fetching.outcome(fetching.bench.url('/file'));
      fetching.bench.names.set(ORIGIN_NAME, [ORIGIN_ADDRESS]);
      expect(outcome).to.equal(`${FILE.length} bytes`);
    });

    it('refuses a host that cannot prove its name, and one that is not there', async () => {
      fetching.bench.names.set('stranger.example.test', [ORIGIN_ADDRESS]);
      expect(await fetching.outcome(nameUrl('stranger.example.test'))).to.equal('network');
      expect(await fetching.outcome(`https://${ORIGIN_NAME}:9/file`)).to.equal('invalid_url');
      expect(await fetching.outcome(`https://${ORIGIN_ADDRESS}:1025/file`)).to.equal('network');
    });
  });
});
