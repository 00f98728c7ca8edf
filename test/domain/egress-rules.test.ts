import { expect } from 'chai';
import { createAddressRule, isSameAddress } from '../../shared/egress/address-rule.ts';
import { EgressError } from '../../shared/egress/egress-error.ts';
import { findHeaderProblems } from '../../shared/egress/header-rules.ts';
import { checkRedirect, checkUrl } from '../../shared/egress/url-rule.ts';

/** The last address before a range, its first and last, and the next one after it; ranges that touch share their edges. */
const PRIVATE: readonly string[] = [
  '0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255', '127.0.0.1', '127.255.255.255',
  '168.63.129.16', '169.254.0.0', '169.254.169.254', '169.254.255.255', '172.16.0.0', '172.31.255.255', '192.0.0.1', '192.0.0.255',
  '192.0.2.1', '192.31.196.1', '192.52.193.1', '192.88.99.1', '192.168.0.0', '192.168.255.255', '192.175.48.1', '198.18.0.0',
  '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255',
  '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1',
  '100::1', '2001::1', '2001:1::1', '2001:1ff:ffff::1', '2001:db8::1', '2002:7f00:1::', '2002:808:808::1', '3fff::1', '3fff:fff::1',
  '2620:4f:8000::1', '4000::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1', '2606:4700::1%eth0', 'fe80::1%1',
  '', 'localhost', '1.2.3', '0x7f000001', '127.1', '1.2.3.4.5', '8.8.8.8 ', '[::1]',
];
const PUBLIC: readonly string[] = [
  '1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0', '168.63.129.15',
  '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.0.3.0', '192.167.255.255',
  '192.169.0.0', '198.17.255.255', '198.20.0.0', '203.0.114.0', '223.255.255.255',
  '2000::1', '2001:200::1', '2001:4860:4860::8888', '2001:db7::1', '2001:db9::1', '2003::1', '2606:4700::6810:84e5', '2620:4f:7fff::1', '3ffe::1',
];

const isPublic = createAddressRule([]);

describe('The rule for addresses of outbound requests (§8 url import 3, D83)', () => {
  for (const address of PRIVATE) it(`refuses ${JSON.stringify(address)}`, () => expect(isPublic(address)).to.equal(false));
  for (const address of PUBLIC) it(`allows ${address}`, () => expect(isPublic(address)).to.equal(true));

  it('allows what an operator excepts, and not one address more', () => {
    const isAllowed = createAddressRule(['127.0.0.2', '10.1.0.0/16', 'fd00::/64']);
    for (const address of ['127.0.0.2', '10.1.255.255', 'fd00::1', '8.8.8.8']) expect(isAllowed(address), address).to.equal(true);
    for (const address of ['127.0.0.1', '127.0.0.3', '10.2.0.0', 'fd00:0:0:1::1', '::ffff:127.0.0.2', '::127.0.0.2', 'fd00::1%lo']) expect(isAllowed(address), address).to.equal(false);
  });

  it('compares addresses and not their spelling', () => {
    expect(isSameAddress('2606:4700:0:0:0:0:6810:84e5', '2606:4700::6810:84e5')).to.equal(true);
    expect(isSameAddress('127.0.0.2', '127.0.0.2')).to.equal(true);
    expect(isSameAddress('127.0.0.2', '::ffff:127.0.0.2')).to.equal(false);
    expect(isSameAddress('127.0.0.2', '')).to.equal(false);
  });
});

function reasonOf(work: () => unknown): string {
  try {
    work();
    return 'allowed';
  } catch (error) {
    if (error instanceof EgressError) return error.reason;
    throw error;
  }
}

const NAME_253 = `${'a'.repeat(61)}.`.repeat(4).slice(0, -1) + '.abcde';
const long = (length: number): string => `https://example.com/${'a'.repeat(length - 20)}`;

const URLS: Readonly<Record<string, readonly string[]>> = {
  allowed: [
    'https://example.com', 'https://example.com/', 'HTTPS://EXAMPLE.COM/a.png', 'https://example.com./a', 'https://example.com:8443/a?b=c#d', 'https://8.8.8.8/x',
    'https://[2606:4700::6810:84e5]/', 'https://example.com/a@b', 'https://example.com/%2e%2e/x', 'https://bücher.example.org/ü', 'https://a_b.example.com/', long(2048), `https://${NAME_253}/`,
    'https://example.com?x=@', 'https://localhost.example.com/', 'https://134744072/',
  ],
  not_https: ['http://example.com/', 'HTTP://example.com', 'ftp://example.com/', 'file:///etc/passwd', 'data:text/plain,x', 'javascript:1', 'http:example.com', 'blob:https://example.com/1', 'http://a:b@127.0.0.1/'],
  invalid_url: [
    '', 'example.com/a', '//example.com/a', 'https:', 'https:/example.com', 'https:example.com', 'https://', 'https:///example.com', 'https://@example.com', 'https://a@example.com', 'https://a:b@example.com',
    'https://:@example.com', 'https://exa%6dple.com', 'https://[fe80::1%25eth0]/', ' https://example.com', 'https://example.com/ ', 'https://exam\tple.com', 'https://example.com/\n', 'https://example.com\\@x',
    'https:\\\\example.com', 'https://example.com/\u0000', 'https://example.com/\u0085', 'https://example.com:99999/', 'https://example.com:22/', 'https://example.com:6667/', 'https://example.com:0/', 'https://1.2.3.4.5/',
    'https://256.1.1.1/', 'https://a..com/', 'https://-a.com/', 'https://a-.com/', 'https://.com/', `https://${'a'.repeat(64)}.com/`, `https://${NAME_253}f.de/`, 'https://[::1/', 'https://[1.2.3.4]/', long(2049), 'https://example.com:x/', 'https://exa mple.com',
  ],
  blocked_address: [
    'https://127.0.0.1/', 'https://127.1/', 'https://127.0.1/', 'https://0/', 'https://0.0.0.0/', 'https://2130706433/', 'https://0x7f000001/', 'https://0x7f.1/', 'https://0177.0.0.1/', 'https://0177.1/', 'https://127.0.0.1./',
    'HTTPS://127.0.0.1/', 'https://１２７.0.0.1/', 'https://127。0。0。1/', 'https://①②⑦.0.0.1/', 'https://10.0.0.1/', 'https://192.168.1.1:8443/', 'https://169.254.169.254/latest/meta-data/', 'https://2852039166/', 'https://168.63.129.16/',
    'https://[::]/', 'https://[::1]/', 'https://[0:0:0:0:0:0:0:1]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/', 'https://[::127.0.0.1]/', 'https://[64:ff9b::127.0.0.1]/', 'https://[64:ff9b:1::1]/', 'https://[2002:7f00:1::]/',
    'https://[2001:0:7f00:1::]/', 'https://[fd00:ec2::254]/', 'https://[fe80::1]/', 'https://localhost/', 'https://LOCALHOST./', 'https://x.localhost/', 'https://metadata.google.internal/', 'https://printer.local/', 'https://a.localdomain/',
    'https://router.home.arpa/', 'https://intranet/', 'https://com/',
  ],
};

describe('The rule for URLs that clients name (§8 url import 1, D83, D93)', () => {
  for (const [expected, urls] of Object.entries(URLS)) {
    for (const url of urls) {
      it(`answers ${expected} to ${JSON.stringify(url.length > 80 ? `${url.slice(0, 40)}… (${url.length})` : url)}`, () => {
        expect(reasonOf(() => checkUrl(url, isPublic))).to.equal(expected);
      });
    }
  }

  it('counts characters and not their halves', () => {
    expect(reasonOf(() => checkUrl(`https://example.com/${'🙂'.repeat(2028)}`, isPublic))).to.equal('allowed');
    expect(reasonOf(() => checkUrl(`https://example.com/${'🙂'.repeat(2029)}`, isPublic))).to.equal('invalid_url');
  });
});

describe('The rule for redirects (§8 url import 3)', () => {
  const from = new URL('https://example.com/a/b?c');
  const target = (location: string): string => {
    try {
      return checkRedirect(location, from, isPublic).url.href;
    } catch (error) {
      if (error instanceof EgressError) return error.reason;
      throw error;
    }
  };
  const cases: Readonly<Record<string, string>> = {
    'd': 'https://example.com/a/d', '/d': 'https://example.com/d', '?d': 'https://example.com/a/b?d', '': 'https://example.com/a/b?c', '//example.org/d': 'https://example.org/d', 'https://example.org': 'https://example.org/',
    'HTTPS://EXAMPLE.ORG/x': 'https://example.org/x', 'http://example.org/': 'not_https', 'file:///etc/passwd': 'not_https', 'https://a:b@example.org/': 'invalid_url', '//a@example.org/': 'invalid_url', 'https://@example.org': 'invalid_url',
    'https://127.0.0.1/': 'blocked_address', '//127.1/': 'blocked_address', '\\\\127.0.0.1/': 'invalid_url', '/\\127.0.0.1/': 'invalid_url', 'https://example.org/a b': 'invalid_url', '//localhost/': 'blocked_address', '/%0d%0aHost:x': 'https://example.com/%0d%0aHost:x',
    'https://example.org:25/': 'invalid_url',
  };
  for (const [location, expected] of Object.entries(cases)) it(`leads from ${JSON.stringify(location)} to ${expected}`, () => expect(target(location)).to.equal(expected));

  it('reads a header that was written in UTF-8', () => {
    expect(target(Buffer.from('/ü').toString('latin1'))).to.equal('https://example.com/%C3%BC');
    expect(target('/\xfc')).to.equal('https://example.com/%C3%BC');
  });
});

function messageOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  return findHeaderProblems(headers)[0]?.message;
}

function headersOf(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'v']));
}

describe('The rule for headers that clients add (§8 url import 2, D83)', () => {
  for (const name of ['Host', 'host', 'HOST', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'TE', 'Trailer', 'Expect', 'Keep-Alive', 'Proxy-Authorization', 'proxy-connection', 'Proxy-Anything']) {
    it(`refuses ${name}`, () => expect(messageOf({ [name]: 'x' })).to.equal('is a header that the service sets itself'));
  }
  for (const name of ['', 'a b', 'a:b', 'a\r\nb', 'ä', 'a\u0000', '"a"', 'a/b', 'x'.repeat(257)]) {
    it(`refuses the name ${JSON.stringify(name.slice(0, 20))}`, () => expect(messageOf({ [name]: 'x' })).to.equal('is not the name of a header'));
  }
  for (const value of ['a\r\nX: y', 'a\nb', 'a\u0000', 'ä', '\u007f', 'x'.repeat(8193), 1, null, ['a'], undefined]) {
    it(`refuses the value ${JSON.stringify(value)?.slice(0, 20)}`, () => expect(messageOf({ 'X-A': value })).to.be.a('string'));
  }
  it('takes what servers ask for', () => {
    const headers: unknown = JSON.parse('{"Authorization": "Bearer abc.def", "Cookie": "a=b; c=d", "X-Empty": "", "__proto__": "x", "constructor": "y", "User-Agent": "z\\tz"}');
    expect(findHeaderProblems(headers as Record<string, unknown>)).to.deep.equal([]);
    expect(findHeaderProblems({ 'X-A': 'x'.repeat(8192) })).to.deep.equal([]);
  });
  it('refuses one name in two spellings', () => {
    expect(findHeaderProblems({ 'X-A': '1', 'x-a': '2' })).to.deep.equal([{ header: 'x-a', message: 'is given twice' }]);
  });
  it('takes ten and refuses eleven', () => {
    expect(findHeaderProblems(headersOf(10))).to.deep.equal([]);
    expect(findHeaderProblems(headersOf(11))).to.deep.equal([{ message: 'must have at most 10 entries' }]);
  });
});
