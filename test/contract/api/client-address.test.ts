import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { canonicalAddress, makeAddressReader } from '../../../services/api/http/client-address.ts';

/** The two things of a request that the address is told from. */
function requestFrom(remoteAddress: string | undefined, forwardedFor?: string): IncomingMessage {
  return { socket: { remoteAddress }, headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor } } as unknown as IncomingMessage;
}

describe('The address of a client (D61)', () => {
  it('is that of the connection when no proxy is trusted, whatever the request says', () => {
    const addressOf = makeAddressReader([]);
    expect(addressOf(requestFrom('192.0.2.1', '203.0.113.9'))).to.equal('192.0.2.1');
    expect(addressOf(requestFrom('127.0.0.1', '203.0.113.9'))).to.equal('127.0.0.1');
  });

  it('is the rightmost one that is no trusted proxy', () => {
    const addressOf = makeAddressReader(['10.0.0.0/8', 'fd00::/8']);
    for (const [connection, header, expected] of [
      ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
      ['10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
      ['10.0.0.1', '198.51.100.1, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
      ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
      ['fd00::1', '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
      ['192.0.2.1', '203.0.113.9', '192.0.2.1'],
      ['10.0.0.1', undefined, '10.0.0.1'],
      ['10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ] as const) expect(addressOf(requestFrom(connection, header)), `${connection} ${header}`).to.equal(expected);
  });

  it('falls back to the proxy that passed on what is no address', () => {
    const addressOf = makeAddressReader(['10.0.0.0/8']);
    for (const header of ['unknown', '', 'x'.repeat(8000), '1.2.3.4:80', '[2001:db8::1]', '999.1.1.1', ',,,']) expect(addressOf(requestFrom('10.0.0.1', header)), header).to.equal('10.0.0.1');
    expect(addressOf(requestFrom('10.0.0.1', 'unknown, 10.0.0.2'))).to.equal('10.0.0.2');
    expect(addressOf(requestFrom(undefined))).to.equal('none');
  });

  it('is one for an IPv4 address however it is written, and one for the /64 of an IPv6 address', () => {
    for (const [text, expected] of [
      ['192.0.2.1', '192.0.2.1'],
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['::FFFF:c000:0201', '192.0.2.1'],
      ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      ['2001:0DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
      ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
      ['no address', undefined],
    ] as const) expect(canonicalAddress(text), text).to.equal(expected);
  });
});
