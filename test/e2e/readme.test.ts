import { expect } from 'chai';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { readPicture } from '../support/pictures.ts';
import { runProgram } from '../support/run-program.ts';
import { sharedService } from '../support/service.ts';

/** What the commands of the README need of the project's folder. */
const PARTS = ['package.json', 'tsconfig.json', 'node_modules', 'services', 'shared', 'test'];

describe('The README', function () {
  this.timeout(240_000);
  let folder: string;
  let scripts: readonly string[];

  before(async () => {
    const service = await sharedService();
    const root = findProjectRoot();
    folder = await mkdtemp(join(tmpdir(), 'test-readme-'));
    await symlink(service.dataDir, join(folder, '.data'));
    await Promise.all(PARTS.map((part) => symlink(join(root, part), join(folder, part))));
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const section = /^## Convert a photograph\n(.*?)^## /ms.exec(readme)?.[1] ?? '';
    scripts = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] ?? '');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('shows how to convert a photograph in two ways, and both work as pasted', async () => {
    expect(scripts).to.have.length(2);
    const original = readPicture(await readFile(join(folder, 'test/fixtures/files/IMG_1054.JPG')));
    for (const script of scripts) {
      await rm(join(folder, 'photo.webp'), { force: true });
      const { code, stdout, stderr } = await runProgram('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: folder });
      expect(code, `${script}\n${stdout}\n${stderr}`).to.equal(0);
      const picture = readPicture(await readFile(join(folder, 'photo.webp')));
      expect(picture.format).to.equal('webp');
      expect([picture.width, picture.height]).to.have.members([original.width, original.height]);
    }
  });

  it('names only commands and folders that exist', async () => {
    const readme = await readFile(join(findProjectRoot(), 'README.md'), 'utf8');
    const { scripts: known } = JSON.parse(await readFile(join(findProjectRoot(), 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    for (const [, name = ''] of readme.matchAll(/npm run (?:-s )?([a-z:]+)/g)) expect(known, name).to.have.property(name);
  });
});
