import { expect } from 'chai';
import { securityHeaders } from '../../../services/api/http/security-headers.ts';
import { TestClient, type Ask } from '../../support/client.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const FOREIGN = ['https://example.com', 'null', 'http://127.0.0.1', 'https://127.0.0.1:1'];
const EXPOSED = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After', 'Idempotent-Replayed', 'Location'];
const SENT = ['Authorization', 'X-API-Key', 'Content-Type', 'Idempotency-Key'];

describe('Pages in browsers (§5.9, D63)', function () {
  this.timeout(120_000);
  let service: TestService;
  let client: TestClient;

  before(async () => {
    service = await sharedService();
    client = new TestClient(service.baseUrl, service.testKey);
  });

  it('of the service itself may see every answer and its headers, refusals among them (§5.9)', async () => {
    const nobody = new TestClient(service.baseUrl);
    for (const [caller, path, status] of [[client, '/v1/me', 200], [client, '/v1/nothing', 404], [nobody, '/v1/me', 401], [nobody, '/v1/operations', 200]] as const) {
      const { status: answered, headers } = await caller.send('GET', path, from(service.baseUrl));
      expect([answered, headers.get('access-control-allow-origin')], path).to.deep.equal([status, service.baseUrl]);
      expect(listOf(headers, 'access-control-expose-headers')).to.include.members(EXPOSED);
      expect(headers.has('access-control-allow-credentials')).to.equal(false);
      expect(listOf(headers, 'vary')).to.include('Origin');
    }
  });

  it('of the service itself are told at once what they may send (§5.9, D1)', async () => {
    const nobody = new TestClient(service.baseUrl);
    const { status, headers } = await nobody.send('OPTIONS', '/v1/jobs', from(service.baseUrl, { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' }));
    expect([status, headers.get('access-control-allow-origin')]).to.deep.equal([204, service.baseUrl]);
    expect(listOf(headers, 'access-control-allow-headers')).to.include.members(SENT);
    expect(listOf(headers, 'access-control-allow-methods')).to.include.members(['GET', 'POST', 'DELETE']);
  });

  it('of other origins get the same answers, without a header that lets them see any (§5.9, D63)', async () => {
    for (const origin of FOREIGN) {
      const { status, headers } = await client.send('GET', '/v1/me', from(origin));
      expect([status, corsOf(headers)], origin).to.deep.equal([200, []]);
      expect(listOf(headers, 'vary')).to.include('Origin');
      const asked = await client.send('OPTIONS', '/v1/jobs', from(origin, { 'Access-Control-Request-Method': 'POST' }));
      expect([asked.status, corsOf(asked.headers)], origin).to.deep.equal([204, []]);
    }
    // Who says nothing of an origin gets the answer that must not be kept for one.
    expect(listOf((await client.send('GET', '/v1/me')).headers, 'vary')).to.include('Origin');
  });

  it('of any origin may use signed links, and see the ETag (§5.10, D63)', async () => {
    for (const origin of FOREIGN) {
      const { headers } = await client.send('GET', '/files/result/x/1', from(origin));
      expect(headers.get('access-control-allow-origin')).to.equal('*');
      expect(listOf(headers, 'access-control-expose-headers')).to.include('ETag');
    }
  });

  it('are told to come by TLS alone where the service is reached by it, and only there', async () => {
    expect((await client.send('GET', '/v1/me')).headers.has('strict-transport-security')).to.equal(false);
    expect(securityHeaders('https://convert.example')['Strict-Transport-Security']).to.match(/^max-age=\d{8}$/);
    expect(securityHeaders('http://127.0.0.1:8080')).not.to.have.property('Strict-Transport-Security');
  });
});

/** A request as a page of that origin sends it. */
function from(origin: string, headers: Readonly<Record<string, string>> = {}): Ask {
  return { headers: { Origin: origin, ...headers } };
}

function listOf(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? '').split(',').map((part) => part.trim());
}

function corsOf(headers: Headers): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'));
}
