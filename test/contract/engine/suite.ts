import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { listPairs, type Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { matchesDeclared } from '../../../shared/objects/sniff/heads.ts';
import type { ConversionResult, Engine } from '../../../services/converter/engines/engine.ts';
import { EngineFailure, type FailureCause } from '../../../services/converter/engines/failure.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { fixturePath } from '../../support/fixtures.ts';

/** Wall-clock limit of one conversion in tests; generous, because every file runs beside others on two processors. */
const TIME_LIMIT_MS = 25_000;

/** Whose files these are. */
const ORGANIZATION = '018f0000-0000-7000-8000-000000000001';

/** What a suite tells about one conversion. */
export interface Conversion {
  readonly source: string | Buffer;
  readonly input: FormatName;
  readonly output: FormatName;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (percent: number) => void;
}

/** A conversion and the bytes that it left, read before the job's folder goes. */
export type Converted = ConversionResult & { readonly bytes: Buffer };

/** Converts a fixture (by name) or bytes in a folder of its own. */
export async function convertIn(sandbox: Sandbox, engine: Engine, conversion: Conversion): Promise<Converted> {
  const { source, input, output, options = {}, timeLimitMs = TIME_LIMIT_MS, signal = new AbortController().signal, onProgress = () => undefined } = conversion;
  const job = await sandbox.openJob();
  try {
    const path = join(job.path, 'source');
    await (typeof source === 'string' ? copyFile(fixturePath(source), path) : writeFile(path, source));
    const result = await engine.convert({ job, organizationId: ORGANIZATION, source: 'source', input, output, options }, { sandbox, signal, timeLimitMs, onProgress });
    return { ...result, bytes: await readFile(result.path) };
  } finally {
    await sandbox.closeJob(job);
  }
}

/** Why a conversion fails; throws when it does not, or when it fails in any other way. */
export async function failureOf(converted: Promise<Converted>): Promise<FailureCause> {
  try {
    await converted;
  } catch (error) {
    if (error instanceof EngineFailure) return error.code;
    throw error;
  }
  throw new Error('the conversion succeeded');
}

/** What an engine must bring to be held to the contract of engines. */
export interface EngineUnderTest {
  readonly engine: Engine;
  /** A real file for each input format. */
  readonly samples: Partial<Record<FormatName, string>>;
  /** A file of another kind that nobody may take for the given format. */
  readonly impostor: string;
  /** Looks at a result with a reader that the engine has nothing to do with. */
  readonly verify: (converted: Converted, pair: Pair) => void | Promise<void>;
  /** Which of the engine's pairs are converted here. Default: all. */
  readonly pairs?: (pairs: readonly Pair[]) => readonly Pair[];
  /** Formats that do not say how long a whole file is, so that a part of one is a whole one. */
  readonly playableWhenCut?: readonly FormatName[];
}

/** The behaviour that every engine shares: all its pairs work, and bad files fail with a cause. */
export function describeEngine({ engine, samples, impostor, verify, pairs: choose = (all) => all, playableWhenCut = [] }: EngineUnderTest): void {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
  });

  const sampleOf = (input: FormatName): string => samples[input] ?? expect.fail(`no sample of ${input}`);
  const pairs = listPairs().filter((pair) => pair.engine === engine.name);
  const inputs = [...new Set(pairs.map(({ input }) => input))];

  after(() => engine.stop());

  it('works here and names the versions of its tools', async () => {
    for (const [tool, state] of Object.entries(await engine.probe(sandbox))) expect(state, tool).to.have.property('version').that.matches(/^\d+(\.\d+){1,3}$/);
  });

  for (const pair of choose(pairs)) {
    it(`converts ${pair.input} to ${pair.output}`, async () => {
      const converted = await convertIn(sandbox, engine, { source: sampleOf(pair.input), ...pair });
      expect(matchesDeclared(converted.bytes, pair.output)).to.equal(true);
      expect(converted.sizeBytes).to.equal(converted.bytes.length);
      expect(converted.billableMs).to.be.within(1, TIME_LIMIT_MS);
      await verify(converted, pair);
    });
  }

  for (const input of inputs) {
    const output = pairs.find((pair) => pair.input === input)?.output ?? input;

    it(`refuses an empty file and a file of another kind as ${input}`, async () => {
      expect(await failureOf(convertIn(sandbox, engine, { source: Buffer.alloc(0), input, output }))).to.equal('empty_file');
      expect(await failureOf(convertIn(sandbox, engine, { source: impostor, input, output }))).to.equal('not_what_it_claims');
    });

    if (playableWhenCut.includes(input)) {
      it(`converts what is there of a ${input} that was cut off`, async () => {
        const whole = await readFile(fixturePath(sampleOf(input)));
        const cut = whole.subarray(0, Math.floor(whole.length / 2));
        expect((await convertIn(sandbox, engine, { source: cut, input, output })).sizeBytes).to.be.greaterThan(0);
      });
      continue;
    }

    it(`says that a ${input} that was cut off is damaged`, async () => {
      const whole = await readFile(fixturePath(sampleOf(input)));
      const cut = whole.subarray(0, Math.floor(whole.length / 2));
      expect(await failureOf(convertIn(sandbox, engine, { source: cut, input, output }))).to.equal('damaged');
    });
  }

  it('gives up when its caller does, with the reason of the caller', async () => {
    const controller = new AbortController();
    const [input] = inputs;
    if (input === undefined) throw new Error('the engine has no pairs');
    const reason = new Error('not wanted any more');
    controller.abort(reason);
    const converting = convertIn(sandbox, engine, { source: sampleOf(input), input, output: input, signal: controller.signal });
    expect(await converting.catch((error: unknown) => error)).to.equal(reason);
  });
}
