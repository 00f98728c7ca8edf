import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE_PACKAGES, OFFICE_PACKAGES } from '../../../services/standalone/setup/engines/packages.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';

const dockerfile = readFileSync(join(findProjectRoot(), 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ');
/** Packages of each `apt-get install` of the image that runs, with the suite it prefers. */
const installs = [...dockerfile.matchAll(/apt-get install ((?:-\S+ (?:bookworm-backports )?)*)([^&\n]*)/g)].map(([, options = '', packages = '']) => ({
  options,
  packages: packages.split(/\s+/).filter((word) => word !== ''),
}));

describe('the Dockerfile', () => {
  it('installs for conversions what set-up installs, and whatever fonts the builder adds', () => {
    expect(installs.map(({ packages }) => packages)).to.deep.equal([[...ENGINE_PACKAGES.map(({ name }) => name), '$EXTRA_PACKAGES'], OFFICE_PACKAGES]);
    for (const { options } of installs) expect(options).to.include('--no-install-recommends');
  });

  it('takes LibreOffice from backports', () => {
    expect(installs[1]?.options).to.include('-t bookworm-backports');
  });
});
