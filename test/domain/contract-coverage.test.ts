import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeCoverage } from '../../docs/coverage/page.ts';

describe('the coverage of the contract', () => {
  const { page, uncovered, unknown } = composeCoverage();

  it('has a test for every clause that a client can observe', () => {
    expect(uncovered).to.deep.equal([]);
  });

  it('cites no clause that does not exist', () => {
    expect(unknown).to.deep.equal([]);
  });

  it('is written down as it is; run "npm run docs" when this fails', () => {
    expect(readFileSync(join(import.meta.dirname, '../../docs/contract-coverage.md'), 'utf8')).to.equal(page);
  });
});
