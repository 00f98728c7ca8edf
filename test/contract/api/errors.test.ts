import { expect } from 'chai';
import { newId } from '../../../shared/ids/ids.ts';
import { tasksOf, TestClient, type Answer, type ErrorBody } from '../../support/client.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const TASKS = tasksOf('jpg', 'png');

describe('Errors (§7)', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let client: TestClient;
  let tester: TestClient;
  let reader: TestClient;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    const organization = await operator.newOrganization(1);
    client = new TestClient(service.baseUrl, (await organization.newKey('live')).secret);
    tester = new TestClient(service.baseUrl, (await organization.newKey('test')).secret);
    reader = new TestClient(service.baseUrl, (await organization.newKey('live', { scopes: ['job.read'] })).secret);
  });
  after(() => operator.stop());

  const create = (json: unknown, by = tester): Promise<Answer<ErrorBody>> => by.send('POST', '/v1/jobs', { json });

  it('of the caller say that the key cannot be used, or which scope it lacks (§7 unauthorized 401, §7 forbidden_scope 403)', async () => {
    requireError(await new TestClient(service.baseUrl).send('GET', '/v1/me'), 401, 'unauthorized');
    requireError(await create({ tasks: TASKS }, reader), 403, 'forbidden_scope', { required_scope: 'job.write' });
  });

  it('of a request name its problems, a reason, or the field that is missing (§2.3.1, §2.3.2, §7 validation_failed 400, D20, D75)', async () => {
    requireError(await client.send('GET', '/v1/jobs?page=0&per_page=101'), 400, 'validation_failed', {
      issues: [{ path: 'page', message: 'must be a whole number from 1 to 1000000000' }, { path: 'per_page', message: 'must be a whole number from 1 to 100' }],
    });
    const job = await tester.createJob(TASKS);
    requireError(await tester.send('POST', `/v1/jobs/${job.id}/uploads/multipart/abort`), 400, 'validation_failed', { reason: 'multipart_not_started' });
    const { input_format: _format, ...convert } = TASKS['convert-1'] as Record<string, unknown>;
    for (const source of [{ operation: 'import/upload' }, { operation: 'import/url', url: 'https://files.invalid/file' }]) {
      const { body, status } = await create({ tasks: { ...TASKS, 'import-1': source, 'convert-1': convert } });
      expect([status, body.error.code, body.error.details?.['field']]).to.deep.equal([400, 'validation_failed', 'input_format']);
      expect(body.error.details).to.have.nested.property('issues[0].path', 'tasks.convert-1.input_format');
    }
    expect((await create({ tasks: { ...TASKS, 'import-1': { operation: 'import/url', url: 'https://files.invalid/file.jpg' }, 'convert-1': convert } })).status).to.equal(201);
  });

  it('of what is not there, or not in the right state, say so (§7 not_found 404, §7 validation_failed 409)', async () => {
    requireError(await client.send('GET', `/v1/jobs/${newId(0)}`), 404, 'not_found');
    const job = await tester.createJob(TASKS);
    await tester.send('POST', `/v1/jobs/${job.id}/cancel`);
    requireError(await tester.send('POST', `/v1/jobs/${job.id}/cancel`), 409, 'validation_failed', { reason: 'already_terminal', status: 'cancelled' });
  });

  it('of what is too large name the limit (§7 validation_failed 413, §7 file_too_large 413, §8 json body, §8 maximum input size)', async () => {
    requireError(await create({ tag: 'x'.repeat(MIB) }), 413, 'validation_failed', { reason: 'body_too_large', max_bytes: MIB });
    const job = await tester.createJob(TASKS);
    requireError(await tester.send('POST', `/v1/jobs/${job.id}/uploads/multipart`, { json: { size_bytes: GIB + 1 } }), 413, 'file_too_large', { max_bytes: GIB });
  });

  it('of a conversion or URL that is not taken say which and why (§2.3.3, §7 unsupported_conversion 400, §7 url_import_failed 400, §8 url import 1)', async () => {
    requireError(await create({ tasks: tasksOf('JPG', 'docx') }), 400, 'unsupported_conversion', { input_format: 'jpg', output_format: 'docx' });
    requireError(await create({ tasks: tasksOf('nonsense', 'png') }), 400, 'unsupported_conversion', { input_format: 'nonsense', output_format: 'png' });
    requireError(await create({ tasks: { ...TASKS, 'import-1': { operation: 'import/url', url: 'http://files.invalid/a.jpg' } } }), 400, 'url_import_failed', { reason: 'not_https' });
  });

  it('of credits say what is needed and what is there, and nothing was created (§7 insufficient_credits 402)', async () => {
    await client.createJob(TASKS);
    requireError(await create({ tasks: TASKS }, client), 402, 'insufficient_credits', { credits_required: 1, credits_available: 0, pricing_url: `${service.baseUrl}/v1/operations` });
    expect((await client.send<{ total: number }>('GET', '/v1/jobs')).body.total).to.equal(1);
  });

  it('of tags are refused when they are longer than 255 characters (§8 tag, D6)', async () => {
    for (const tag of ['x'.repeat(255), '🙂'.repeat(255)]) expect((await tester.createJob(TASKS, { tag })).tag).to.equal(tag);
    requireError(await create({ tasks: TASKS, tag: 'x'.repeat(256) }), 400, 'validation_failed', { issues: [{ path: 'tag', message: 'must have at most 255 characters' }] });
  });

  it('of the service itself say whether to try again, and when (§7 internal 500, §7 internal 503, D77)', async () => {
    const failed = await create({ tasks: TASKS, tag: 'test:fail=internal' });
    requireError(failed, 500, 'internal', { retryable: false });
    const away = await create({ tasks: TASKS, tag: 'test:fail=internal/storage_unavailable' });
    requireError(away, 503, 'internal', { retryable: true, reason: 'storage_unavailable' });
    expect(away.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
  });

  it('come one after the other in the order of the checks, when everything is wrong with a request (D1, D3)', async () => {
    const organization = await operator.newOrganization(5, 'free');
    const [readOnly, writing] = await Promise.all((['job.read', 'job.write'] as const).map(async (scope) => new TestClient(service.baseUrl, (await organization.newKey('live', { scopes: [scope] })).secret)));
    for (let job = 0; job < 5; job += 1) await writing!.createJob(TASKS);
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'é' };
    const large = { body: 'x'.repeat(MIB + 1), headers };
    requireError(await new TestClient(service.baseUrl).send('POST', '/v1/nothing', large), 401, 'unauthorized');
    requireError(await readOnly!.send('POST', '/v1/nothing', large), 404, 'not_found');
    requireError(await readOnly!.send('POST', '/v1/jobs', large), 403, 'forbidden_scope', { required_scope: 'job.write' });
    requireError(await writing!.send('POST', '/v1/jobs', large), 413, 'validation_failed', { reason: 'body_too_large', max_bytes: MIB });
    const pathsOf = async (body: string): Promise<unknown> => (await writing!.send<ErrorBody>('POST', '/v1/jobs', { body, headers })).body.error.details?.['issues'];
    expect(await pathsOf('{')).to.have.nested.property('[0].path', 'body');
    expect(await pathsOf('{}')).to.have.nested.property('[0].path', 'Idempotency-Key');
    const invalid = await create({ tasks: fetching('docx'), tag: 5 }, writing);
    expect([invalid.status, invalid.body.error.details]).to.have.nested.property('[1].issues[0].path', 'tag');
    requireError(await create({ tasks: fetching('docx') }, writing), 400, 'unsupported_conversion', { input_format: 'jpg', output_format: 'docx' });
    requireError(await create({ tasks: fetching('png') }, writing), 400, 'url_import_failed', { reason: 'not_https' });
    // Neither a place nor a credit is left; the place is said first.
    requireError(await create({ tasks: TASKS }, writing), 429, 'rate_limited', { reason: 'active_job_limit_reached', limit: 5 });
  });
});

/** Tasks whose file would be fetched from where nothing may be fetched. */
function fetching(outputFormat: string): object {
  return { ...tasksOf('jpg', outputFormat), 'import-1': { operation: 'import/url', url: 'http://127.0.0.1/a.jpg' } };
}

/** The envelope of §7 and nothing else; `details` must be as expected, and be missing where none are. */
function requireError(answer: Answer<ErrorBody>, status: number, code: string, details?: unknown): void {
  const { error, ...rest } = answer.body;
  expect([answer.status, error.code, error.details, rest], answer.bytes.toString()).to.deep.equal([status, code, details, {}]);
  expect(Object.keys(error)).to.have.members(['code', 'message', 'request_id', ...(details === undefined ? [] : ['details'])]);
  expect(error.message).to.be.a('string').and.not.equal('');
  expect(error.request_id).to.equal(answer.headers.get('x-request-id'));
}
