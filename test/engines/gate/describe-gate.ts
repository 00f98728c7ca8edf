import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Engine } from '../../../services/converter/engines/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { listPairs } from '../../../shared/domain/catalogue/pairs.ts';
import type { EngineName } from '../../../shared/domain/catalogue/tools.ts';
import { convertIn } from '../../contract/engine/suite.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { judge } from './quality.ts';
import { recordQuality } from './record.ts';
import { SAMPLES } from './samples.ts';

/** A film on a busy machine. */
const PAIR_LIMIT_MS = 120_000;

/** One test for each pair of an engine: a real file is converted in the sandbox, and the result judged by others. */
export function describeGate(name: EngineName, open: (sandbox: Sandbox) => Promise<Engine> | Engine): void {
  describe(`every pair of the ${name} engine`, function () {
    this.timeout(PAIR_LIMIT_MS);
    let engine: Engine;
    let sandbox: Sandbox;
    let folder: string;
    before(async () => {
      sandbox = await createSandbox({ mode: 'require' });
      engine = await open(sandbox);
      folder = await mkdtemp(join(tmpdir(), 'gate-'));
    });
    after(async () => {
      await engine.stop();
      await rm(folder, { recursive: true, force: true });
    });

    const pairs = listPairs().filter((pair) => pair.engine === name);
    it('has pairs', () => expect(pairs).not.to.deep.equal([]));
    for (const pair of pairs) {
      it(`converts ${pair.input} to ${pair.output} well`, async () => {
        const sample = SAMPLES[pair.input] ?? expect.fail(`there is no sample of ${pair.input}`);
        const [before, after] = [join(folder, `source.${pair.input}`), join(folder, `result.${pair.output}`)];
        await copyFile(fixturePath(sample), before);
        const converted = await convertIn(sandbox, engine, { source: sample, input: pair.input, output: pair.output, timeLimitMs: PAIR_LIMIT_MS });
        await writeFile(after, converted.bytes);
        const source = { path: before, bytes: await readFile(before), format: pair.input };
        const quality = await judge(source, { path: after, bytes: converted.bytes, format: pair.output }, pair);
        await recordQuality(pair, sample, converted.billableMs, quality);
      });
    }
  });
}

