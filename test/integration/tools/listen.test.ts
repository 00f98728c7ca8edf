import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { waitFor } from '../../../services/standalone/processes.ts';
import type { AggregateRef, StoredEvent } from '../../../shared/events/envelope.ts';
import type { JobEvent } from '../../../shared/events/registry.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { jobKeyName } from '../../../shared/privacy/data-keys.ts';
import { openKvDataKeys } from '../../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { sealTyped } from '../../../shared/privacy/typed.ts';
import { afterLast } from '../../../shared/store/event-store.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';
import { webhookEventId } from '../../../shared/webhooks/ids.ts';
import { signBody, signStandard } from '../../../shared/webhooks/sign.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { originOf } from '../../support/events.ts';
import { conversionStarted, created, finished, sourceReceived } from '../../support/job-events.ts';
import { silent } from '../../support/read-models.ts';
import { runCommand } from '../../support/run-program.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const WAIT_MS_MAX = 60_000;
const UNKNOWN_ID = '0190b3a4-7c1e-7d1f-8a2b-3c4d5e6f7a8b';

type Received = { readonly headers: IncomingHttpHeaders; readonly body: Buffer };
type Listening = { readonly child: ChildProcess; readonly lines: readonly string[]; readonly secret: string; end(): Promise<number | null> };

describe('npm run listen', function () {
  this.timeout(180_000);
  let nats: TestNats;
  let nc: Awaited<ReturnType<typeof connectNats>>;
  let folder: string;
  let environment: Readonly<Record<string, string>>;
  let organizationId: string;
  let receiver: Server;
  let address: string;
  let answer: number;
  const received: Received[] = [];
  const masterKey = randomBytes(32).toString('base64');
  before(async () => {
    [nats, folder] = await Promise.all([startNats(), mkdtemp(join(tmpdir(), 'listen-'))]);
    nc = await connectNats({ url: nats.url, name: 'test', logger: silent });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
    environment = { NATS_URL: nats.url, DATABASE_URL: 'postgres://127.0.0.1:1/none', MASTER_KEY: masterKey, DATA_DIR: folder, PUBLIC_URL: 'https://files.example.com' };
    organizationId = await addOrganization();
    receiver = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part)).on('end', () => {
        received.push({ headers: request.headers, body: Buffer.concat(parts) });
        response.writeHead(answer, answer === 302 ? { Location: `${address}/elsewhere` } : {}).end('taken');
      });
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    received.length = 0;
    answer = 204;
  });
  after(async () => {
    receiver.closeAllConnections();
    receiver.close();
    await nc.close();
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function addOrganization(): Promise<string> {
    const account: AggregateRef = { kind: 'account', id: newId(Date.now()) };
    await createJetStreamStore(nc).append(account, { version: 0 }, { type: 'account.created', data: { plan: 'active', name: 'v1.a.b' } }, originOf(account));
    return account.id;
  }

  /** Creates a job, and answers how to append to it. */
  async function addJob(owner: string = organizationId): Promise<{ readonly id: string; append(...events: readonly JobEvent[]): Promise<StoredEvent> }> {
    const id = newId(Date.now());
    const job: AggregateRef = { kind: 'job', id };
    const store = createJetStreamStore(nc);
    const key = await (await openKvDataKeys(nc, openMasterKey(masterKey))).create(jobKeyName(id));
    const typed = sealTyped(key, owner, id, { tag: 'Grüße', task_names: { import: 'in', convert: 'do', export: 'out' }, options: { quality: 80 }, ignored_options: ['fit'] });
    const append = async (...events: readonly JobEvent[]): Promise<StoredEvent> => {
      let last: StoredEvent | undefined;
      for (const event of events) last = await store.append(job, afterLast(await store.load(job)), event, { ...originOf(job), tenant: owner });
      if (!last) throw new Error('nothing was appended');
      return last;
    };
    await append(created({ organization_id: owner, typed }));
    return { id, append };
  }

  async function listen(...args: readonly string[]): Promise<Listening> {
    const child = spawn(process.execPath, ['--import', 'tsx', 'services/cli/listen.ts', ...args], { cwd: findProjectRoot(), env: { PATH: process.env['PATH'] ?? '', ...environment }, stdio: ['ignore', 'pipe', 'inherit'] });
    const over = once(child, 'close');
    const lines: string[] = [];
    let rest = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const parts = `${rest}${text}`.split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    const secret = await waitFor('the signing secret', WAIT_MS_MAX, async () => /whsec_[\w+/]+=*/.exec(lines.join('\n'))?.[0]);
    return {
      child,
      lines,
      secret,
      async end() {
        child.kill('SIGINT');
        await over;
        return child.exitCode;
      },
    };
  }
  const untilReceived = (count: number) => waitFor(`${count} events`, WAIT_MS_MAX, async () => (received.length >= count ? true : undefined));
  const run = (...args: readonly string[]) => runCommand('listen', args, environment);

  it('forwards events from now on as a registered endpoint gets them, signed with the secret that it printed (§6)', async () => {
    const before = await addJob();
    const listening = await listen('--forward-to', `${address}/hook`);
    try {
      const other = await addJob(newId(Date.now()));
      const job = await addJob();
      const end = await job.append(sourceReceived, conversionStarted(), finished());
      await untilReceived(2);
      const [first, last] = received;
      if (!first || !last) throw new Error('two events came');
      for (const { headers, body } of [first, last]) {
        const [, seconds = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['service-signature'])) ?? [];
        expect(signature).to.equal(signBody(listening.secret, Number(seconds), body));
        expect(headers['webhook-signature']).to.equal(`v1,${signStandard(listening.secret, String(headers['webhook-id']), Number(seconds), body)}`);
        expect(headers).to.include({ 'content-type': 'application/json', 'user-agent': 'Service-Webhooks/1' });
      }
      const body = JSON.parse(last.body.toString()) as Record<string, unknown>;
      const eventId = `evt_${webhookEventId(job.id, 'job.finished', end.position)}`;
      expect(body).to.include({ id: eventId, event: 'job.finished', created_at: end.envelope.time }).and.not.have.property('test');
      expect(last.headers['service-event-id']).to.equal(eventId);
      const { job: shown } = body['data'] as { job: { readonly id: string; readonly status: string; readonly tag: string; readonly tasks: readonly { readonly name: string; readonly result?: { readonly url: string } }[] } };
      expect([shown.id, shown.status, shown.tag, ...shown.tasks.map(({ name }) => name)]).to.deep.equal([job.id, 'finished', 'Grüße', 'in', 'do', 'out']);
      expect(shown.tasks[2]?.result?.url).to.match(/^https:\/\/files\.example\.com\//);
      expect(await untilPrinted(listening, eventId)).to.match(/ job\.finished .* 204 {2}\d+ ms$/);
      expect(received).to.have.length(2);
      expect(listening.lines.join('\n')).to.not.include(other.id).and.not.include(before.id);
    } finally {
      expect(await listening.end()).to.equal(0);
    }
  });

  it('forwards the events that were asked for, and says what the receiver answered, an object a line', async () => {
    const listening = await listen('--forward-to', address, '--events', 'job.cancelled,job.failed', '--org', organizationId, '--json');
    try {
      expect(JSON.parse(listening.lines[0] ?? '')).to.deep.equal({ forward_to: `${address}/`, organization_id: organizationId, events: ['job.failed', 'job.cancelled'], secret: listening.secret });
      for (const status of [500, 302]) {
        answer = status;
        const job = await addJob();
        await job.append({ type: 'job.cancelled', data: {} });
        const line = JSON.parse(await untilPrinted(listening, job.id)) as Record<string, unknown>;
        expect(line).to.include({ event: 'job.cancelled', job_id: job.id, status_code: status }).and.have.keys('time', 'event', 'event_id', 'job_id', 'status_code', 'duration_ms');
      }
      expect(received).to.have.length(2);
    } finally {
      expect(await listening.end()).to.equal(0);
    }
  });

  it('goes on when nobody listens at the address', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const listening = await listen('--forward-to', `http://127.0.0.1:${port}/hook`);
    try {
      for (let round = 0; round < 2; round += 1) expect(await untilPrinted(listening, (await addJob()).id)).to.match(/ nobody listens there {2}\d+ ms$/);
    } finally {
      expect(await listening.end()).to.equal(0);
    }
  });

  it('refuses what it cannot do, with a sentence', async () => {
    const calls: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['--json'], 2, /^listen: --forward-to is missing\n$/],
      [['--forward-to', 'localhost:3000'], 2, /^listen: --forward-to must be an address such as http:\/\/localhost:3000\/hook\n$/],
      [['--forward-to', 'http://a:b@localhost/'], 2, /no user and no password/],
      [['--forward-to', address, '--events', 'job.painted'], 2, /^listen: --events must be some of job\.created,/],
      [['--forward-to', address, '--org', 'mine'], 2, /^listen: --org must be an id/],
      [['--forward-to', address, '--org', UNKNOWN_ID], 1, new RegExp(`^listen: there is no organization ${UNKNOWN_ID}\\n$`)],
    ];
    await Promise.all(calls.map(async ([args, code, sentence]) => {
      const ended = await run(...args);
      expect([ended.code, ended.stdout], ended.stderr).to.deep.equal([code, '']);
      expect(ended.stderr).to.match(sentence);
    }));
    const second = await addOrganization();
    const { code, stderr } = await run('--forward-to', address);
    expect(code).to.equal(2);
    expect(stderr).to.include('--org').and.include(organizationId).and.include(second);
  });
});

/** The line that was printed of an event or a job. */
function untilPrinted(listening: Listening, text: string): Promise<string> {
  return waitFor(text, WAIT_MS_MAX, async () => listening.lines.find((line) => line.includes(text)));
}
