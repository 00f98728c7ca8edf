import { expect } from 'chai';
import { copyFile, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { composeWelcome } from '../../services/standalone/welcome.ts';
import { tasksOf, TestClient } from '../support/client.ts';
import { makeNoise, readPicture } from '../support/pictures.ts';
import { runProgram } from '../support/run-program.ts';
import { sharedService, type TestService } from '../support/service.ts';

/** What the commands of the README need of the project's folder. */
const PARTS = ['package.json', 'tsconfig.json', 'node_modules', 'services', 'shared', 'test'];
/** More than the converters of the service have slots. */
const SLOW_JOBS = 3;

describe('The README', function () {
  this.timeout(240_000);
  let folder: string;
  let scripts: readonly string[];
  let service: TestService;

  before(async () => {
    service = await sharedService();
    const root = findProjectRoot();
    folder = await mkdtemp(join(tmpdir(), 'test-readme-'));
    await symlink(service.dataDir, join(folder, '.data'));
    await Promise.all(PARTS.map((part) => symlink(join(root, part), join(folder, part))));
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const section = /^## Convert a photograph\n(.*?)^## /ms.exec(readme)?.[1] ?? '';
    scripts = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] ?? '');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs commands as they are pasted, and requires that they made the photograph a WebP. */
  async function requirePhoto(script: string): Promise<void> {
    const original = readPicture(await readFile(join(folder, 'test/fixtures/files/IMG_1054.JPG')));
    await rm(join(folder, 'photo.webp'), { force: true });
    const { code, stdout, stderr } = await runProgram('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: folder });
    expect(code, `${script}\n${stdout}\n${stderr}`).to.equal(0);
    const picture = readPicture(await readFile(join(folder, 'photo.webp')));
    expect(picture.format).to.equal('webp');
    expect([picture.width, picture.height]).to.have.members([original.width, original.height]);
  }

  /** Does the work while every slot of the converters is taken, so that a new job is seen in each of its states. */
  async function whileBusy(work: () => Promise<void>): Promise<void> {
    const client = new TestClient(service.baseUrl, service.liveKey);
    const noise = await makeNoise(200, 160);
    const jobs = await Promise.all(Array.from({ length: SLOW_JOBS }, () => client.createJob(tasksOf('jpg', 'avif', { effort: 6 }))));
    await Promise.all(jobs.map((job) => client.upload(job, noise)));
    await client.waitForStatus(jobs[0]!.id, 'processing', 'finished');
    try {
      await work();
    } finally {
      await Promise.all(jobs.map(({ id }) => client.send('POST', `/v1/jobs/${id}/cancel`)));
    }
  }

  it('shows how to convert a photograph in two ways, and both work as pasted', async () => {
    expect(scripts).to.have.length(2);
    for (const script of scripts) await requirePhoto(script);
  });

  it('shows what also works as pasted while the service is busy with others, as does what is said at the start', async () => {
    await copyFile(join(folder, 'test/fixtures/files/IMG_1054.JPG'), join(folder, 'photo.jpg'));
    const welcome = composeWelcome(service.dataDir, service.baseUrl, false).split('Convert a photograph:')[1] ?? '';
    for (const script of [scripts[0] ?? '', welcome]) await whileBusy(() => requirePhoto(script));
  });

  it('names only commands and folders that exist', async () => {
    const readme = await readFile(join(findProjectRoot(), 'README.md'), 'utf8');
    const { scripts: known } = JSON.parse(await readFile(join(findProjectRoot(), 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    for (const [, name = ''] of readme.matchAll(/npm run (?:-s )?([a-z:]+)/g)) expect(known, name).to.have.property(name);
  });
});
