import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';
import { findTool } from '../../../shared/tools/find-tool.ts';

describe('finding a program', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tools-'));
    await mkdir(join(folder, 'first/some-tool'), { recursive: true });
    await mkdir(join(folder, 'second'));
    await writeFile(join(folder, 'second/some-tool'), '', { mode: 0o755 });
    await writeFile(join(folder, 'plain-file'), '', { mode: 0o644 });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('takes the first runnable file on the path and passes over folders of that name', () => {
    const path = [join(folder, 'first'), 'relative', '', join(folder, 'second')].join(delimiter);
    expect(findTool('some-tool', undefined, path)).to.equal(join(folder, 'second/some-tool'));
    expect(findTool('some-tool', '', path)).to.equal(join(folder, 'second/some-tool'));
  });

  it('takes the choice of the operator, and nothing else when that cannot be run', () => {
    const path = join(folder, 'second');
    expect(findTool('some-tool', process.execPath, path)).to.equal(process.execPath);
    expect(findTool('some-tool', join(folder, 'plain-file'), path)).to.equal(undefined);
  });

  it('finds nothing when there is nothing', () => {
    expect(findTool('no-such-tool', undefined, join(folder, 'second'))).to.equal(undefined);
  });
});
