import { expect } from 'chai';
import { link, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkResult } from '../../../services/converter/engines/checks.ts';
import { EngineFailure, type FailureCause } from '../../../services/converter/engines/failure.ts';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';

async function causeOf(path: string, output: FormatName): Promise<FailureCause | undefined> {
  return checkResult(path, output).then(
    () => undefined,
    (error: unknown) => (error instanceof EngineFailure ? error.code : undefined),
  );
}

describe('what a converter left behind', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'test-results-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function leave(content: string): Promise<string> {
    const path = join(folder, 'result');
    await writeFile(path, content);
    return path;
  }

  it('is taken when it is a file of the format', async () => {
    expect(await checkResult(await leave('words'), 'txt')).to.equal(5);
  });

  it('is, when it is an empty text, a source without text (D38)', async () => {
    for (const output of ['txt', 'csv', 'md'] as const satisfies readonly FormatName[]) {
      expect(await causeOf(await leave(''), output)).to.equal('no_text');
    }
    expect(await causeOf(await leave(''), 'pdf')).to.equal('engine_crashed');
  });

  it('is refused when it is missing, another format, or a link of any kind', async () => {
    const path = await leave('words');
    expect(await causeOf(join(folder, 'nothing'), 'txt')).to.equal('engine_crashed');
    expect(await causeOf(path, 'pdf')).to.equal('engine_crashed');
    await link(path, join(folder, 'second'));
    expect(await causeOf(path, 'txt')).to.equal('engine_crashed');
    await symlink(path, join(folder, 'third'));
    expect(await causeOf(join(folder, 'third'), 'txt')).to.equal('engine_crashed');
  });
});
