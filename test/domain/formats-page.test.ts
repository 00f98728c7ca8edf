import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { composeFormatsPage } from '../../docs/formats-page.ts';
import { listPairs } from '../../shared/domain/catalogue/pairs.ts';

describe('docs/formats.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/formats.md'), 'utf8');

  it('is as the catalogue says; run "npm run docs" when this fails', () => {
    expect(page).to.equal(composeFormatsPage());
  });

  it('names every format that is read or written', () => {
    for (const format of new Set(listPairs().flatMap(({ input, output }) => [input, output]))) expect(page).to.match(new RegExp(`[|,] ${format}[ ,]`));
  });
});
