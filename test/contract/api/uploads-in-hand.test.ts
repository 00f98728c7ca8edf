import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { waitFor } from '../../../services/standalone/processes.ts';
import { tasksOf, TestClient, uploadUrlOf, type ErrorBody } from '../../support/client.ts';
import { MultipartUpload } from '../../support/multipart.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { startSecondApi, type SecondApi } from '../../support/second-api.ts';
import { sharedService, type TestService } from '../../support/service.ts';

/** Length of a body of which at first only the beginning comes. */
const BODY_BYTES = 1000;
/** How long a place may take to be free again after its connection has died, in ms. */
const FREE_LIMIT_MS = 10_000;
/** More than any disk has free. */
const NEVER_FREE_BYTES = 2 ** 50;

describe('Bodies of files', function () {
  this.timeout(120_000);
  let service: TestService;
  let operator: TestOperator;
  let secret: string;
  let client: TestClient;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    ({ secret } = await (await operator.newOrganization(50)).newKey('live'));
    client = new TestClient(service.baseUrl, secret);
  });
  after(() => operator.stop());

  const outcome = async (url: string): Promise<unknown> => {
    const { status, body } = await client.send<ErrorBody>('PUT', url, { body: Buffer.alloc(BODY_BYTES) });
    return status === 200 ? status : [status, body.error.code, body.error.details?.['reason']];
  };
  const inProgress = [409, 'validation_failed', 'upload_in_progress'];

  it('come one at a time to an upload URL; the one on its way is not disturbed (§4.5)', async () => {
    const url = uploadUrlOf(await client.createJob(tasksOf('jpg', 'png')));
    const first = await beginBody(url);
    try {
      expect(await outcome(url)).to.deep.equal(inProgress);
      expect((await client.send('PUT', url, { body: 'x' })).headers.get('retry-after')).to.equal('10');
      expect(await first.finish()).to.equal('HTTP/1.1 200 OK');
    } finally {
      first.socket.destroy();
    }
  });

  it('come one at a time to a part, side by side to different URLs, and again afterwards (§4.4)', async () => {
    const job = await client.createJob(tasksOf('jpg', 'png'));
    const upload = new MultipartUpload(client, job);
    await upload.start(BODY_BYTES);
    const url = await upload.url(1);
    const first = await beginBody(url);
    try {
      expect(await outcome(url)).to.deep.equal(inProgress);
      expect(await outcome(uploadUrlOf(await client.createJob(tasksOf('jpg', 'png'))))).to.equal(200);
      expect(await first.finish()).to.equal('HTTP/1.1 200 OK');
      expect(await outcome(url)).to.equal(200);
    } finally {
      first.socket.destroy();
    }
  });

  it('may come again as soon as the connection of the one before is gone (§4.5)', async () => {
    const url = uploadUrlOf(await client.createJob(tasksOf('jpg', 'png')));
    const first = await beginBody(url);
    first.socket.destroy();
    await waitFor('the place being free', FREE_LIMIT_MS, async () => ((await outcome(url)) === 200 ? true : undefined));
  });

  describe('on a disk without room', () => {
    let full: SecondApi;
    before(async () => {
      full = await startSecondApi(service, { DISK_FREE_MIN_BYTES: String(NEVER_FREE_BYTES) });
    });
    after(() => full.stop());

    it('are answered 503, and so is a new job, before anything is held (§7 internal 503)', async () => {
      const url = uploadUrlOf(await client.createJob(tasksOf('jpg', 'png')));
      const { pathname, search } = new URL(url);
      const elsewhere = new TestClient(full.baseUrl, secret);
      const balance = await client.send('GET', '/v1/me');
      const answers = [
        await elsewhere.send<ErrorBody>('PUT', `${pathname}${search}`, { body: 'x' }),
        await elsewhere.send<ErrorBody>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'png') } }),
      ];
      for (const { status, body, headers } of answers) {
        expect([status, body.error.code, body.error.details?.['reason']]).to.deep.equal([503, 'internal', 'storage_unavailable']);
        expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
      }
      const { body } = await elsewhere.send<{ dependencies: Record<string, string> }>('GET', '/readyz');
      expect(body.dependencies).to.include({ storage: 'away', nats: 'ok' });
      expect((await client.send('GET', '/v1/me')).body).to.deep.equal(balance.body);
    });
  });
});

/** Sends all of a body but its last byte, and waits until the service has begun to take it. */
async function beginBody(url: string): Promise<{ readonly socket: Socket; readonly finish: () => Promise<string> }> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding('utf8');
  const heard: string[] = [];
  socket.on('data', (text: string) => heard.push(text));
  const next = (what: string): Promise<string> => waitFor(what, FREE_LIMIT_MS, () => heard.shift()?.split('\r\n')[0]);
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: ${BODY_BYTES}\r\nExpect: 100-continue\r\n\r\n`);
  // The service asks for the body at the moment from which the place is taken.
  expect(await next('being asked for the body')).to.equal('HTTP/1.1 100 Continue');
  socket.write('x'.repeat(BODY_BYTES - 1));
  return {
    socket,
    finish: () => {
      socket.write('x');
      return next('the answer');
    },
  };
}
