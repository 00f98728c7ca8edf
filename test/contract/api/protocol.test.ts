import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { TestClient, tasksOf, type ErrorBody } from '../../support/client.ts';
import { openApiCheck, type OpenApiCheck } from '../../support/openapi-check.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const MIB = 2 ** 20;

describe('The protocol of the API', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let check: OpenApiCheck;
  let client: TestClient;
  let secret: string;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    check = await openApiCheck(service.baseUrl);
    secret = (await (await operator.newOrganization(5)).newKey('live')).secret;
    client = new TestClient(service.baseUrl, secret, check);
  });
  after(() => operator.stop());

  /** Bytes straight onto a connection; everything that comes back until it is closed. */
  function exchange(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(service.baseUrl);
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      socket.once('close', () => resolve(answer)).once('error', reject);
    });
  }

  async function post(body: string | Uint8Array, headers: Record<string, string> = { 'Content-Type': 'application/json' }): Promise<{ status: number; error: ErrorBody['error'] }> {
    const answer = await client.send<ErrorBody>('POST', '/v1/jobs', { body, headers });
    return { status: answer.status, error: answer.body.error };
  }

  it('gives every answer an id of its own, the same in header and envelope (§7, D74)', async () => {
    const ids = new Set<string>();
    for (const path of ['/healthz', '/v1/operations', '/v1/me', '/v1/nothing', '/files/nothing', '/']) {
      const answer = await client.send<Partial<ErrorBody>>('GET', path, { headers: { 'X-Request-Id': 'mine' } });
      const id = answer.headers.get('x-request-id') ?? '';
      expect(id).to.match(/^[0-9a-f-]{36}$/);
      if (answer.status !== 200) expect(answer.body.error?.request_id).to.equal(id);
      ids.add(id);
    }
    expect(ids).to.have.length(6);
  });

  it('says with every answer that it is not to be guessed at, kept or framed', async () => {
    const { headers } = await client.send('GET', '/v1/me');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('answers CONNECT in the envelope, and goes on to answer others (D51)', async () => {
    const answer = await exchange('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).to.match(/^HTTP\/1\.1 405 Method Not Allowed\r\n/).and.match(/\r\nAllow: (\r\n|$)/).and.include('nosniff');
    const { error } = JSON.parse(body) as ErrorBody;
    expect([error.code, head.includes(`X-Request-Id: ${error.request_id}`)]).to.deep.equal(['method_not_allowed', true]);
    // An answer that is under way is not mixed with another.
    const mixed = await exchange('GET /v1/me HTTP/1.1\r\nHost: a\r\n\r\nCONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    expect(mixed).not.to.include(' 405 ');
    expect((await client.send('GET', '/healthz')).status).to.equal(200);
  });

  it('answers 404 to unknown paths, 405 with Allow to unknown methods (D51)', async () => {
    for (const path of ['/v1/nothing', '/v1/jobs/', '/v1', '/nothing', '/v1/jobs/x/y/z']) expect((await client.send('GET', path)).status, path).to.equal(404);
    const answer = await client.send<ErrorBody>('PATCH', '/v1/jobs');
    expect([answer.status, answer.body.error.code, answer.headers.get('allow')]).to.deep.equal([405, 'method_not_allowed', 'POST, GET, HEAD, OPTIONS']);
    expect((await client.send('POST', '/healthz')).status).to.equal(405);
  });

  it('answers OPTIONS at once, without a key and without opening the API to other pages (D1, D63)', async () => {
    const nobody = new TestClient(service.baseUrl);
    const api = await nobody.send('OPTIONS', '/v1/jobs', { headers: { Origin: 'https://example.com' } });
    expect([api.status, api.headers.get('access-control-allow-origin')]).to.deep.equal([204, null]);
    const files = await nobody.send('OPTIONS', '/files/source/x', { headers: { Origin: 'https://example.com' } });
    expect([files.status, files.headers.get('access-control-allow-origin')]).to.deep.equal([204, '*']);
    expect(files.headers.get('access-control-allow-methods')).to.include('PUT');
  });

  it('answers HEAD as GET without a body (D51)', async () => {
    const head = await client.send('HEAD', '/v1/me');
    expect([head.status, head.bytes.length]).to.deep.equal([200, 0]);
    expect(Number(head.headers.get('content-length'))).to.be.greaterThan(0);
  });

  it('refuses bodies that are no JSON object, by 400 (D52)', async () => {
    for (const body of ['', '{', '[]', '"x"', 'null', '3', '{"tasks":NaN}']) {
      const { status, error } = await post(body);
      expect([status, error.code], body).to.deep.equal([400, 'validation_failed']);
    }
    expect((await post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))).status).to.equal(400);
  });

  it('refuses other content types and encodings by 400, and takes the usual spellings (D52)', async () => {
    const body = JSON.stringify({ tasks: {} });
    for (const type of ['text/plain', 'application/jsonx', 'application/json; charset=latin1', 'application/x-www-form-urlencoded']) {
      const { status, error } = await post(body, { 'Content-Type': type });
      expect([status, JSON.stringify(error.details)], type).to.satisfy(([code, details]: [number, string]) => code === 400 && details.includes('Content-Type'));
    }
    expect((await post(body, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })).status).to.equal(400);
    for (const type of ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"']) {
      expect(JSON.stringify((await post(body, { 'Content-Type': type })).error.details), type).to.include('"path":"tasks"');
    }
  });

  it('takes a body of exactly 1 MiB and refuses one byte more by 413 (§7 validation_failed 413, §8, §8 json body, D42, D76, D98)', async () => {
    const frame = JSON.stringify({ tag: '' }).length;
    const { status } = await post(JSON.stringify({ tag: 'x'.repeat(MIB - frame) }));
    expect(status).to.equal(400);
    const { status: over, error } = await post(JSON.stringify({ tag: 'x'.repeat(MIB - frame + 1) }));
    expect([over, error.code, error.details]).to.deep.equal([413, 'validation_failed', { reason: 'body_too_large', max_bytes: MIB }]);
  });

  it('counts a body that does not say its length, and the next request goes through (D76)', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest({ hostname, port, method: 'POST', path: '/v1/jobs', headers: { 'X-API-Key': secret, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      // Once the answer is there the connection is closed under what is still being sent.
      request.on('error', reject);
      request.write('{"tag":"');
      for (let part = 0; part < 17; part += 1) request.write('x'.repeat(65_536));
      request.end('"}');
    });
    expect(status).to.equal(413);
    expect((await client.send('GET', '/v1/me')).status).to.equal(200);
  });

  it('asks for the body only when it will take it', async () => {
    const { host } = new URL(service.baseUrl);
    const head = `POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\n`;
    const refused = await exchange(`${head}X-API-Key: ${secret}\r\nContent-Length: 5000000\r\n\r\n`);
    expect(refused).to.match(/^HTTP\/1\.1 413 /);
    expect(await exchange(`${head}Content-Length: 2\r\n\r\n`)).to.match(/^HTTP\/1\.1 401 /);
    expect(await exchange(`${head}X-API-Key: ${secret}\r\nContent-Length: 2\r\n\r\n{}`)).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  it('passes over a body that means nothing, and the connection goes on (D52)', async () => {
    const { host } = new URL(service.baseUrl);
    const ask = (close: string): string => `GET /v1/me HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${secret}\r\nContent-Length: 2\r\n${close}\r\n{}`;
    const answers = await exchange(ask('') + ask('Connection: close\r\n'));
    expect(answers.match(/HTTP\/1\.1 200 /g)).to.have.length(2);
  });

  it('passes over an expectation that it does not know', async () => {
    const { host } = new URL(service.baseUrl);
    const answer = await exchange(`GET /v1/me HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nExpect: wonders\r\nX-API-Key: ${secret}\r\n\r\n`);
    expect(answer).to.match(/^HTTP\/1\.1 200 /);
  });

  it('refuses what nests too deeply, before it is parsed', async () => {
    expect((await post('['.repeat(MIB))).status).to.equal(400);
    const nested = `{"tasks":${'{"a":'.repeat(32)}1${'}'.repeat(33)}`;
    expect(JSON.stringify((await post(nested)).error.details)).to.include('32 levels');
  });

  it('refuses text that no database stores, in values and in names', async () => {
    for (const body of [`{"tag":"a\\u0000b"}`, `{"tag":"\\ud800"}`, `{"tasks":{"\\u0000":{}}}`, `{"tasks":{"\\udc00":{}}}`]) {
      const { status, error } = await post(body);
      expect([status, JSON.stringify(error.details)], body).to.satisfy(([code, details]: [number, string]) => code === 400 && details.includes('U+0000'));
    }
    await client.createJob(tasksOf('jpg', 'png'), { tag: '🙂 <script>' });
  });

  it('puts what cannot be read as HTTP into the same envelope (§7, D51)', async () => {
    const { host } = new URL(service.baseUrl);
    const cases: readonly (readonly [string, number])[] = [
      ['nonsense\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      [`POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/me HTTP/1.1\r\n\r\n`, 400],
      [`POST /v1/jobs HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc`, 400],
      [`GET http://[/v1/me HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, 400],
      ['GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ];
    for (const [text, status] of cases) {
      const answer = await exchange(text);
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      const { error } = JSON.parse(body) as ErrorBody;
      expect(error.code).to.equal('validation_failed');
      expect(head).to.include(`X-Request-Id: ${error.request_id}`);
      expect(answer.match(/HTTP\/1\.1/g)).to.have.length(1);
    }
  });
});
