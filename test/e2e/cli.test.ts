import { expect } from 'chai';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobView } from '../../shared/domain/job-view.ts';
import { TestClient, tasksOf } from '../support/client.ts';
import { fixturePath } from '../support/fixtures.ts';
import { readPicture } from '../support/pictures.ts';
import { runCommand, type Ended } from '../support/run-program.ts';
import { sharedService, type TestService } from '../support/service.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '0190b3a4-7c1e-7d1f-8a2b-3c4d5e6f7a8b';
const USAGE = 2;
const FAILED = 1;
const BAD_CONFIGURATION = 78;

type Program = 'admin' | 'audit' | 'convert';

describe('The commands', function () {
  this.timeout(240_000);
  let service: TestService;
  let folder: string;

  before(async () => {
    service = await sharedService();
    folder = await mkdtemp(join(tmpdir(), 'test-commands-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const run = (program: Program, ...args: readonly string[]): Promise<Ended> => runCommand(program, args, { DATA_DIR: service.dataDir });

  /** Runs a command that must succeed and say one JSON object, and nothing else, on stdout. */
  async function answerOf(program: Program, ...args: readonly string[]): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await run(program, ...args);
    expect(code, `${stdout}\n${stderr}`).to.equal(0);
    expect(stdout.trimEnd().split('\n')).to.have.length(1);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  async function statusWith(secret: unknown): Promise<number> {
    return (await new TestClient(service.baseUrl, String(secret)).send('GET', '/v1/me')).status;
  }

  describe('admin', () => {
    let organizationId: string;

    before(async () => {
      const answer = await answerOf('admin', 'org', 'create', '--name', 'Example & Sons', '--plan', 'active', '--credits', '7');
      expect(answer).to.have.all.keys('organization_id');
      organizationId = String(answer['organization_id']);
      expect(organizationId).to.match(UUID);
    });

    const createKey = (...more: readonly string[]) => answerOf('admin', 'key', 'create', '--org', organizationId, '--mode', 'live', ...more);

    it('creates a key that works when the command returns, with the scopes it was given (§5.8, D64)', async () => {
      const [all, reader] = await Promise.all([createKey(), createKey('--scopes', 'job.read', '--expires-at', '2999-01-01T00:00:00Z')]);
      expect(all).to.have.all.keys('api_key_id', 'secret');
      expect(all['api_key_id']).to.match(UUID);
      expect(all['secret']).to.match(/^svc_live_/);
      const me = await new TestClient(service.baseUrl, String(all['secret'])).send<{ plan: string; credits: { balance: number }; organization_id: string }>('GET', '/v1/me');
      expect(me.status).to.equal(200);
      expect(me.body.credits.balance).to.equal(7);
      const refused = await new TestClient(service.baseUrl, String(reader['secret'])).send<{ error: { code: string } }>('POST', '/v1/jobs', { json: { tasks: tasksOf('jpg', 'webp') } });
      expect([refused.status, refused.body.error.code]).to.deep.equal([403, 'forbidden_scope']);
    });

    it('rotates and revokes: the old secret is dead the moment the command returns (§5.8, D62, D64)', async () => {
      const created = await createKey();
      const rotated = await answerOf('admin', 'key', 'rotate', String(created['api_key_id']));
      expect(await statusWith(created['secret'])).to.equal(401);
      expect(rotated).to.have.all.keys('api_key_id', 'secret');
      expect(rotated['api_key_id']).to.equal(created['api_key_id']);
      expect(await statusWith(rotated['secret'])).to.equal(200);
      await answerOf('admin', 'key', 'revoke', String(created['api_key_id']));
      expect(await statusWith(rotated['secret'])).to.equal(401);
    });

    it('creates an organization that has nothing to spend yet', async () => {
      const poor = await answerOf('admin', 'org', 'create', '--name', 'Example', '--plan', 'free', '--credits', '0');
      expect(await answerOf('admin', 'credits', 'grant', '--org', String(poor['organization_id']), '--amount', '2')).to.deep.equal({ balance: 2 });
    });

    it('grants credits and answers the new balance (D64)', async () => {
      expect(await answerOf('admin', 'credits', 'grant', '--org', organizationId, '--amount', '5', '--reason', 'a gift')).to.deep.equal({ balance: 12 });
      expect(await answerOf('admin', 'credits', 'grant', '--org', organizationId, '--amount', '1')).to.deep.equal({ balance: 13 });
    });

    it('changes the plan, also to what it is already (D64)', async () => {
      for (const plan of ['free', 'free', 'active']) {
        expect(await answerOf('admin', 'org', 'set-plan', '--org', organizationId, '--plan', plan)).to.deep.equal({ organization_id: organizationId, plan });
      }
    });
  });

  describe('admin webhook', () => {
    let organizationId: string;
    let webhookId: string;

    before(async () => {
      organizationId = String((await answerOf('admin', 'org', 'create', '--name', 'Hooks', '--plan', 'free'))['organization_id']);
      const { secret } = await answerOf('admin', 'key', 'create', '--org', organizationId, '--mode', 'test');
      // A public address, to which nothing is sent: there is no event for it.
      const webhook = await new TestClient(service.baseUrl, String(secret)).send<{ id: string }>('POST', '/v1/webhooks', { json: { url: 'https://93.184.216.34/hook', events: ['job.cancelled'], description: 'd' } });
      webhookId = webhook.body.id;
    });

    it('lists endpoints of both modes, for programs and for people (D64)', async () => {
      const list = await answerOf('admin', 'webhook', 'list', '--org', organizationId, '--json');
      const [webhook, ...others] = list['webhooks'] as readonly Record<string, unknown>[];
      expect([list['organization_id'], others]).to.deep.equal([organizationId, []]);
      expect({ ...webhook, created_at: '' }).to.deep.equal({ webhook_id: webhookId, mode: 'test', url: 'https://93.184.216.34/hook', events: ['job.cancelled'], description: 'd', enabled: true, disabled_reason: null, disabled_at: null, created_at: '' });
      expect((await run('admin', 'webhook', 'list', '--org', organizationId)).stdout).to.equal(`${webhookId}  test  enabled  job.cancelled  https://93.184.216.34/hook\n`);
    });

    it('enables one that is enabled, and gives a new secret each time (D64, D68)', async () => {
      expect(await answerOf('admin', 'webhook', 'enable', webhookId, '--json')).to.deep.equal({ webhook_id: webhookId, enabled: true });
      expect((await run('admin', 'webhook', 'enable', webhookId)).stdout).to.equal(`Webhook endpoint ${webhookId} was enabled already.\n`);
      const [one, two] = [await answerOf('admin', 'webhook', 'rotate-secret', webhookId, '--json'), await run('admin', 'webhook', 'rotate-secret', webhookId)];
      expect(one['secret']).to.match(/^whsec_/);
      expect(two.stdout).to.match(/^Secret of webhook endpoint \S+, shown only now: whsec_\S{44}\nDeliveries are signed with the old secret too for 86400 seconds\.\n$/).and.not.include(String(one['secret']));
    });

    it('says what is wrong with an id, and that there is none of it', async () => {
      for (const args of [['list'], ['list', '--org', 'x'], ['enable'], ['enable', 'x'], ['rotate-secret', webhookId, webhookId]]) expect((await run('admin', 'webhook', ...args)).code, args.join(' ')).to.equal(USAGE);
      for (const args of [['list', '--org', UNKNOWN_ID], ['enable', UNKNOWN_ID], ['rotate-secret', UNKNOWN_ID]]) {
        const { code, stderr } = await run('admin', 'webhook', ...args);
        expect([code, stderr], args.join(' ')).to.satisfy(([exit, text]: [number, string]) => exit === FAILED && text.includes(`there is no ${args[0] === 'list' ? 'organization' : 'webhook endpoint'} ${UNKNOWN_ID}`));
      }
    });
  });

  describe('audit', () => {
    let job: JobView;

    before(async () => {
      const client = new TestClient(service.baseUrl, service.liveKey);
      job = await client.convert(await readFile(fixturePath('sample.webp')), tasksOf('webp', 'png'));
      expect(job.status).to.equal('finished');
    });

    it('verify says what it counted, for programs and for people', async () => {
      const [report, text] = await Promise.all([answerOf('audit', 'verify', '--json'), run('audit', 'verify')]);
      expect(report).to.include({ ok: true, findings: 0 });
      expect(report['credits']).to.have.all.keys('granted', 'balance', 'held', 'charged');
      expect(text.code).to.equal(0);
      expect(text.stdout).to.match(/Everything is in order\.\n$/);
    });

    it('timeline tells the life of a job in order', async () => {
      const { code, stdout } = await run('audit', 'timeline', job.id);
      expect(code).to.equal(0);
      const said = ['credits.held', 'job.created', 'job.source_received', 'job.conversion_started', 'job.finished', 'credits.charged'];
      const places = said.map((type) => stdout.indexOf(` ${type} `));
      expect(places.every((place, index) => place > (places[index - 1] ?? 0)), stdout).to.equal(true);
    });

    it('timeline of a job that never was fails with a sentence', async () => {
      const { code, stdout, stderr } = await run('audit', 'timeline', UNKNOWN_ID);
      expect([code, stdout, stderr]).to.deep.equal([FAILED, '', `audit: there is no job ${UNKNOWN_ID}\n`]);
    });
  });

  describe('convert', () => {
    it('converts a file with options, shows its progress on stderr and answers one object', async () => {
      const output = join(folder, 'small.webp');
      const { code, stdout, stderr } = await run('convert', fixturePath('debian.png'), 'webp', '-o', output, '--option', 'width=48', '--option', 'quality=70');
      expect(code, stderr).to.equal(0);
      const answer = JSON.parse(stdout) as Record<string, unknown>;
      expect(answer).to.have.all.keys('job_id', 'file', 'credits_used');
      expect(answer).to.include({ file: output, credits_used: 1 });
      expect(stderr).to.match(/uploading \d+ bytes/);
      expect(readPicture(await readFile(output))).to.include({ format: 'webp', width: 48 });
    });

    it('says why a conversion is refused, and leaves no file behind', async () => {
      const output = join(folder, 'nothing.webp');
      const [unsupported, unreadable, badOption] = await Promise.all([
        run('convert', fixturePath('a-text.pdf'), 'mp3', '-o', output),
        run('convert', join(folder, 'not-there.jpg'), 'webp', '-o', output),
        run('convert', fixturePath('debian.png'), 'webp', '-o', output, '--option', 'quality=1000'),
      ]);
      expect([unsupported.code, unreadable.code, badOption.code]).to.deep.equal([FAILED, USAGE, FAILED]);
      expect(badOption.stderr.trimEnd().split('\n')).to.have.length(1);
      expect(badOption.stderr).to.include('quality');
      for (const { stdout, stderr } of [unsupported, unreadable, badOption]) {
        expect(stdout).to.equal('');
        expect(stderr).to.match(/^convert: .+\n/);
        expect(stderr).not.to.match(/\n\s+at /);
      }
      expect(await readFile(output).catch(() => 'absent')).to.equal('absent');
    });
  });

  it('convert never replaces its source unasked', async () => {
    const file = join(folder, 'photo.jpg');
    await copyFile(fixturePath('debian_logo.jpg'), file);
    const original = await readFile(file);
    const { code, stderr } = await run('convert', file, 'jpg', '--option', 'width=16');
    expect([code, stderr]).to.deep.equal([USAGE, `convert: the result would replace ${file}; name another file with -o\n`]);
    expect((await readFile(file)).equals(original)).to.equal(true);
    await answerOf('convert', file, 'jpg', '--option', 'width=16', '-o', file);
    expect(readPicture(await readFile(file))).to.include({ format: 'jpg', width: 16 });
  });

  it('convert finds what cannot go well before it asks anything of the service', async () => {
    const bare = join(folder, 'scan');
    await copyFile(fixturePath('debian_logo.jpg'), bare);
    const source = fixturePath('debian.png');
    // Nobody answers there, so whoever asked would be told that.
    const nobody = { BASE_URL: 'http://127.0.0.1:1/v1', API_KEY: 'none' };
    const calls = [
      [[source, 'jpg', '-o', '/nonexistent/x.jpg'], 'cannot write /nonexistent/x.jpg; name another file with -o'],
      [[source, 'jpg', '-o', folder], `${folder} is a folder; name a file in it with -o`],
      [[folder, 'jpg'], `${folder} is a folder; name a file in it`],
      [[bare, 'png'], `the name of ${bare} does not tell its format; say it, such as --input-format jpg`],
    ] as const;
    await Promise.all(calls.map(async ([args, sentence]) => {
      const { code, stdout, stderr } = await runCommand('convert', args, nobody);
      expect([code, stdout, stderr]).to.deep.equal([USAGE, '', `convert: ${sentence}\n`]);
    }));
    await answerOf('convert', bare, 'png', '--input-format', 'jpg');
    expect(readPicture(await readFile(`${bare}.png`))).to.include({ format: 'png' });
  });

  it('convert says which service does not answer', async () => {
    const { code, stderr } = await runCommand('convert', [fixturePath('debian.png'), 'webp'], { BASE_URL: 'http://127.0.0.1:1/v1', API_KEY: 'none' });
    expect([code, stderr]).to.deep.equal([FAILED, 'convert: http://127.0.0.1:1 does not answer\n']);
  });

  const wrong: readonly (readonly [why: string, program: Program, args: readonly string[]])[] = [
    ['no command', 'admin', []],
    ['an unknown command', 'admin', ['org', 'remove']],
    ['a missing option', 'admin', ['org', 'create', '--plan', 'free']],
    ['a plan there is none of', 'admin', ['org', 'create', '--name', 'x', '--plan', 'gold']],
    ['a negative amount', 'admin', ['credits', 'grant', '--org', UNKNOWN_ID, '--amount=-5']],
    ['something that is no id', 'admin', ['key', 'rotate', 'my-key']],
    ['an unknown scope', 'admin', ['key', 'create', '--org', UNKNOWN_ID, '--mode', 'live', '--scopes', 'everything']],
    ['an unknown option', 'audit', ['verify', '--loud']],
    ['an argument too many', 'audit', ['timeline', UNKNOWN_ID, UNKNOWN_ID]],
    ['an option without a value', 'convert', [fixturePath('debian.png'), 'webp', '--option', 'quality']],
  ];

  it('refuse a wrong call with exit code 2 and say what is wrong', async () => {
    const calls = wrong.map(async ([why, program, args]) => {
      const { code, stdout, stderr } = await run(program, ...args);
      expect(code, why).to.equal(USAGE);
      if (args.length > 0) expect([stdout, stderr.startsWith(`${program}: `)], why).to.deep.equal(['', true]);
    });
    await Promise.all(calls);
  });

  it('fail with exit code 1 on what does not exist', async () => {
    const unknown = ['--org', UNKNOWN_ID];
    const calls = [['key', 'revoke', UNKNOWN_ID], ['key', 'create', ...unknown, '--mode', 'test'], ['credits', 'grant', ...unknown, '--amount', '1'], ['org', 'set-plan', ...unknown, '--plan', 'free']];
    await Promise.all(calls.map(async (args) => {
      const { code, stdout, stderr } = await run('admin', ...args);
      expect([code, stdout], args.join(' ')).to.deep.equal([FAILED, '']);
      expect(stderr, args.join(' ')).to.match(/^admin: [^\n]+\n$/);
    }));
  });

  it('print help with --help', async () => {
    for (const program of ['admin', 'audit', 'convert'] as const) {
      const { code, stdout, stderr } = await run(program, '--help');
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(stdout).to.include(`npm run -s ${program} -- `);
    }
  });

  it('say what to do when no service runs', async () => {
    const { code, stdout, stderr } = await runCommand('audit', ['verify'], { DATA_DIR: folder });
    expect([code, stdout]).to.deep.equal([BAD_CONFIGURATION, '']);
    expect(stderr).to.include('npm start');
  });
});
