import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '../../../shared/config/settings.ts';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';

const root = findProjectRoot();
const compose = readFileSync(join(root, 'compose.yaml'), 'utf8');
/** Block of settings that every service of ours gets. */
const environment = /^x-environment:[^\n]*\n((?: {2}[^\n]*\n)+)/m.exec(compose)?.[1] ?? '';
/** What the file takes from `.env`, and what the script writes there. */
const wanted = new Set([...compose.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name));
const written = new Set([...readFileSync(join(root, 'docker/make-env'), 'utf8').matchAll(/^(\w+)=/gm)].map(([, name = '']) => name));

describe('compose.yaml', () => {
  it('gives the services settings that exist', () => {
    const names = [...environment.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
    expect(names).to.include.members(['NATS_URL', 'DATABASE_URL', 'MASTER_KEY', 'PUBLIC_URL']);
    expect(names.filter((name) => name !== undefined && !(name in SETTINGS))).to.deep.equal([]);
  });

  it('starts programs that exist', () => {
    const programs = [...compose.matchAll(/dist\/([\w/-]+)\.js/g)].map(([, name]) => name);
    expect(programs).to.include.members(['services/api/main', 'services/ledger/main', 'projections/main']);
    expect(programs.filter((name) => !existsSync(join(root, `${name}.ts`)))).to.deep.equal([]);
  });

  it('holds no password, and asks for every one that its script writes', () => {
    expect([...wanted]).to.have.members([...written]);
    for (const [, value] of compose.matchAll(/^\s+\w*(?:PASSWORD|SECRET|KEY\w*): (.*)$/gm)) expect(value).to.match(/^\$\{\w+:\?/);
  });
});
