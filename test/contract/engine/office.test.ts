import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createOfficeEngine } from '../../../services/converter/engines/office/engine.ts';
import { createOfficePool } from '../../../services/converter/engines/office/pool.ts';
import { createPdfEngine } from '../../../services/converter/engines/pdf/engine.ts';
import { FORMATS } from '../../../shared/domain/catalogue/formats.ts';
import type { Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { SAMPLES } from '../../engines/gate/samples.ts';
import { pagesOf } from '../../engines/readers/pages.ts';
import { recall, wordsOf } from '../../engines/readers/words.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { describeEngine, type Converted } from './suite.ts';

/** Every filter once in each direction; `npm run test:engines` goes through all pairs. */
const PAIRS: ReadonlySet<string> = new Set([
  'doc>docx', 'docx>odt', 'docx>pdf', 'odt>rtf', 'rtf>docx', 'docx>doc', 'xls>xlsx', 'xlsx>ods', 'xlsx>pdf', 'ods>xls',
  'txt>pdf', 'html>docx', 'md>odt', 'epub>docx', 'csv>xlsx', 'docx>txt', 'docx>md', 'odt>html', 'xlsx>csv', 'doc>epub', 'ods>html', 'md>html', 'html>epub',
  'ppt>pptx', 'pptx>odp', 'pptx>pdf', 'pptx>png', 'odp>ppt', 'ppt>svg', 'docx>jpg', 'xlsx>zip', 'pages>docx', 'numbers>xlsx', 'key>pptx',
]);

/** Least part of the words that are kept; sheets and slides say some of theirs in other ways. */
const RECALL_MIN = { document: 0.9, other: 0.8 } as const;

describe('the office engine', function () {
  this.timeout(120_000);
  const pool = createOfficePool({ slots: 2, isolation: 'strict' });
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'office-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Compares the words of the result with those of the source, both read by programs that did not convert them. */
  async function verify({ bytes }: Converted, { input, output }: Pair): Promise<void> {
    const path = join(folder, `result.${output}`);
    await writeFile(path, bytes);
    if (output === 'pdf') expect(pagesOf(path)).to.deep.include({ fontsMissing: [], blank: [] });
    const sample = fixturePath(SAMPLES[input] ?? expect.fail(`no sample of ${input}`));
    const [before, after] = [await wordsOf(sample, await readFile(sample), input, output), await wordsOf(path, bytes, output)];
    if (before === undefined || after === undefined) return;
    // A ppt keeps what was deleted from it, and its reader cannot tell; all that is in the result has to be in it, though.
    expect(input === 'ppt' ? recall(after, before) : recall(before, after)).to.be.at.least(FORMATS[output].category === 'document' ? RECALL_MIN.document : RECALL_MIN.other);
  }

  describeEngine({
    engine: createOfficeEngine(pool, createPdfEngine(pool)),
    samples: SAMPLES,
    impostor: 'debian.png',
    pairs: (pairs) => pairs.filter(({ input, output }) => PAIRS.has(`${input}>${output}`)),
    playableWhenCut: ['csv', 'html', 'md', 'txt'],
    verify,
  });
});
