import { expect } from 'chai';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { FORMAT_NAMES } from '../../../shared/domain/catalogue/formats.ts';
import { listPairs } from '../../../shared/domain/catalogue/pairs.ts';
import { tasksOf, TestClient, type ErrorBody } from '../../support/client.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import { sharedService, type TestService } from '../../support/service.ts';

type Operations = { readonly data: readonly { readonly input_format: string; readonly output_format: string; readonly credits_estimated: number; readonly weight: number; readonly best_effort: boolean }[]; readonly options: Readonly<Record<string, object>> };
type Document = { readonly openapi: string; readonly servers: readonly { readonly url: string }[]; readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string; readonly responses: Readonly<Record<string, object>> }>>>>; readonly components: { readonly schemas: Readonly<Record<string, object>> } };

const AT_ONCE = 8;

describe('What anybody may read', function () {
  this.timeout(120_000);
  let service: TestService;
  let nobody: TestClient;

  before(async () => {
    service = await sharedService();
    nobody = new TestClient(service.baseUrl, undefined, await openApiCheck(service.baseUrl));
  });

  it('lists every conversion with its estimate, never below its weight (§4.1 GET /operations, D25, D50)', async () => {
    const { body } = await nobody.send<Operations>('GET', '/v1/operations');
    expect(body.data.length).to.be.greaterThan(0);
    for (const pair of body.data) expect(pair.credits_estimated).to.be.at.least(pair.weight);
  });

  it('says of each conversion whether a faithful result is promised (§4.1 GET /operations)', async () => {
    const { body } = await nobody.send<Operations>('GET', '/v1/operations');
    const known = new Map(listPairs().map(({ input, output, bestEffort }) => [`${input}>${output}`, bestEffort]));
    for (const { input_format, output_format, best_effort } of body.data) expect(best_effort).to.equal(known.get(`${input_format}>${output_format}`));
  });

  it('sends the long list once to whoever keeps it (§4.1 GET /operations)', async () => {
    const first = await nobody.send<Operations>('GET', '/v1/operations');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).to.match(/^"[\w-]{43}"$/);
    expect(first.headers.get('cache-control')).to.equal('public, max-age=30');
    const again = await nobody.send('GET', '/v1/operations', { headers: { 'If-None-Match': etag } });
    expect([again.status, again.bytes.length, again.headers.get('etag')]).to.deep.equal([304, 0, etag]);
    expect((await nobody.send('GET', '/v1/operations', { headers: { 'If-None-Match': '"another"' } })).status).to.equal(200);
    const head = await nobody.send('HEAD', '/v1/operations');
    expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, String(first.bytes.length)]);
  });

  it('describes the options of each target format by a schema that works', async () => {
    const { body } = await nobody.send<Operations>('GET', '/v1/operations');
    const validate = new Ajv2020({ strict: false }).compile(body.options['webp'] ?? {});
    expect(validate({ quality: 80, fit: 'cover' })).to.equal(true);
    expect(validate({ quality: 0 })).to.equal(false);
    // An unknown option is ignored by POST /jobs, so the schema must not refuse it.
    expect(validate({ quality: 80, sparkle: true })).to.equal(true);
    expect(new Set(Object.keys(body.options))).to.deep.equal(new Set(body.data.map(({ output_format }) => output_format)));
  });

  it('lists the pairs of known formats that POST /jobs takes, and no other (§2.3.3, §4.1 GET /operations, D22)', async () => {
    const tester = new TestClient(service.baseUrl, service.testKey);
    const { body } = await nobody.send<Operations>('GET', '/v1/operations');
    const listed = new Set(body.data.map(({ input_format, output_format }) => `${input_format} to ${output_format}`));
    // Of each format the first that it is converted to, and the first that it is not: all of them would be thousands.
    const pairs = FORMAT_NAMES.flatMap((input) => {
      const isListed = (output: string): boolean => listed.has(`${input} to ${output}`);
      const chosen = [FORMAT_NAMES.find(isListed), FORMAT_NAMES.find((output) => !isListed(output))];
      return chosen.flatMap((output) => (output === undefined ? [] : [[input, output] as const]));
    });
    await inParallel(pairs.length, AT_ONCE, async (index) => {
      const [input = 'jpg', output = 'jpg'] = pairs[index] ?? [];
      const { status, body: answer } = await tester.send<Partial<ErrorBody>>('POST', '/v1/jobs', { json: { tasks: tasksOf(input, output) } });
      expect([status, answer.error?.code], `${input} to ${output}`).to.deep.equal(listed.has(`${input} to ${output}`) ? [201, undefined] : [400, 'unsupported_conversion']);
    });
    expect(pairs.length).to.be.greaterThan(FORMAT_NAMES.length);
  });

  it('serves an OpenAPI 3.1 document of every endpoint, relative to the base address (§4.1 GET /openapi.json, §9.1, §9.6)', async () => {
    const { body } = await nobody.send<Document>('GET', '/v1/openapi.json');
    expect(body.openapi).to.equal('3.1.0');
    expect(body.servers).to.deep.equal([{ url: `${service.baseUrl}/v1` }]);
    const operations = Object.entries(body.paths).flatMap(([path, methods]) => Object.keys(methods).filter((name) => name !== 'servers').map((method) => `${method} ${path}`));
    expect(operations).to.have.members([
      'post /jobs', 'get /jobs', 'get /jobs/{job_id}', 'delete /jobs/{job_id}', 'post /jobs/{job_id}/cancel',
      'post /jobs/{job_id}/uploads/multipart', 'post /jobs/{job_id}/uploads/multipart/parts', 'post /jobs/{job_id}/uploads/multipart/complete', 'post /jobs/{job_id}/uploads/multipart/abort', 'get /me', 'get /operations', 'get /openapi.json', 'get /reference', 'get /reference/{file}',
      'put /files/source/{job_id}', 'put /files/source/{job_id}/parts/{part_number}', 'get /files/result/{job_id}/{attempt}', 'get /healthz', 'get /readyz',
      'post /webhooks', 'get /webhooks', 'delete /webhooks/{webhook_id}', 'post /webhooks/{webhook_id}/test',
      'get /webhooks/{webhook_id}/deliveries', 'post /webhooks/{webhook_id}/deliveries/{delivery_id}/replay', 'post /webhooks/{webhook_id}/replay',
    ]);
    expect(Object.keys(body.components.schemas)).to.include.members(['Job', 'Task', 'Error', 'JobStatus', 'CreateJobRequest', 'TaskDefinition']);
  });

  it('declares 413 for creating a job, whose files are too large only later (D47)', async () => {
    const { body } = await nobody.send<Document>('GET', '/v1/openapi.json');
    const declared = JSON.stringify(body.paths['/jobs']?.['post']?.responses['413']);
    expect(declared).to.include('FileTooLargeError').and.include('ValidationFailedError');
    expect(JSON.stringify(body.components.schemas['FileTooLargeError'])).to.include('"file_too_large"').and.include('"max_bytes"');
  });

  it('lets clients tolerate fields that they do not know, in every answer that it describes (§9.2)', async () => {
    const { body } = await nobody.send<Document>('GET', '/v1/openapi.json');
    const answers = Object.values(body.paths).flatMap((methods) => Object.values(methods).map(({ responses }) => responses));
    expect(JSON.stringify([answers, body.components.schemas])).to.include('"properties"').and.not.include('"additionalProperties":false');
  });

  it('lies below its version and nowhere else (§9.1)', async () => {
    const tester = new TestClient(service.baseUrl, service.testKey);
    expect((await tester.send('GET', '/v1/jobs')).status).to.equal(200);
    for (const path of ['/jobs', '/v2/jobs', '/V1/jobs', '/v1/v1/jobs']) {
      const { status } = await fetch(service.baseUrl + path, { headers: { 'X-API-Key': service.testKey } });
      expect(status, path).to.equal(404);
    }
  });

  it('says that it lives, and that everything it needs is there', async () => {
    expect((await nobody.send('GET', '/healthz')).body).to.deep.equal({ status: 'ok' });
    const { status, body } = await nobody.send<{ dependencies: object }>('GET', '/readyz');
    expect(status).to.equal(200);
    expect(body.dependencies).to.deep.equal({ nats: 'ok', accounts: 'ok', postgres: 'ok', storage: 'ok', ledger: 'ok', importer: 'ok', converter: 'ok', read_model: 'ok' });
  });
});
