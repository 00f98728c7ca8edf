import { expect } from 'chai';
import { parseMadison, type Candidate } from '../../../services/standalone/setup/apt.ts';
import { chooseOffice, guessOffice, mayRemove, needsBackports } from '../../../services/standalone/setup/engines/choose-office.ts';
import { commandsFor } from '../../../services/standalone/setup/engines/commands.ts';
import { findMissing } from '../../../services/standalone/setup/engines/installed.ts';
import { DESKTOP_OFFICE_PACKAGES, ENGINE_PACKAGES, NOTO_PACKAGES, OFFICE_PACKAGES } from '../../../services/standalone/setup/engines/packages.ts';

const at = (version: string, suite: string): Candidate => ({ version, suite });
const nothing: ReadonlySet<string> = new Set();
const noPrograms = (): boolean => false;

/** What the archives of releases really hold of `libreoffice-writer-nogui` and `libreoffice-uiconfig-writer`. */
const BACKPORT = at('4:25.2.3-2+deb13u5~bpo12+1', 'bookworm-backports');
const BOOKWORM = [at('4:7.4.7-1+deb12u14', 'bookworm'), at('4:7.4.7-1+deb12u13', 'bookworm-security')];
const TRIXIE = [at('4:25.2.3-2+deb13u2', 'trixie')];
const NOBLE = [at('4:24.2.7-0ubuntu0.24.04.4', 'noble-updates'), at('4:24.2.2-0ubuntu1', 'noble')];

describe('choosing a LibreOffice', () => {
  it('takes Debian 12’s from backports, and its own with windows where apt will not have that', () => {
    const situation = { writer: [BACKPORT, ...BOOKWORM], dialogues: [BACKPORT], installed: nothing };
    expect(needsBackports({ ...situation, writer: BOOKWORM, dialogues: [] })).to.equal(true);
    expect(chooseOffice(situation)).to.deep.equal([{ packages: OFFICE_PACKAGES, suite: 'bookworm-backports' }, { packages: DESKTOP_OFFICE_PACKAGES }]);
  });

  it('takes Debian 12’s own with windows where there are no backports', () => {
    expect(chooseOffice({ writer: BOOKWORM, dialogues: [], installed: nothing })).to.deep.equal([{ packages: DESKTOP_OFFICE_PACKAGES }]);
  });

  it('takes Debian 13’s own, and never looks at its backports', () => {
    const situation = { writer: [at('4:25.8.1-1~bpo13+1', 'trixie-backports'), ...TRIXIE], dialogues: TRIXIE, installed: nothing };
    expect(needsBackports(situation)).to.equal(false);
    expect(chooseOffice(situation)).to.deep.equal([{ packages: OFFICE_PACKAGES }]);
  });

  it('takes what Ubuntu has, and leaves backports that are no newer', () => {
    expect(chooseOffice({ writer: NOBLE, dialogues: NOBLE, installed: nothing })).to.deep.equal([{ packages: OFFICE_PACKAGES }]);
    expect(chooseOffice({ writer: [at('4:24.8.1-1', 'noble-backports'), ...NOBLE], dialogues: NOBLE, installed: nothing })).to.deep.equal([{ packages: OFFICE_PACKAGES }]);
  });

  it('compares versions by number, not by letter', () => {
    const old = [at('1:7.10.1-1', 'other')];
    expect(needsBackports({ writer: old, dialogues: [], installed: nothing })).to.equal(true);
    expect(needsBackports({ writer: [at('100.1.0-1', 'other')], dialogues: [], installed: nothing })).to.equal(false);
    expect(needsBackports({ writer: [at('25.10', 'other')], dialogues: [], installed: nothing })).to.equal(false);
  });

  it('adds to the LibreOffice of a desktop what is missing of it, and never takes its place', () => {
    const installed = new Set(['libreoffice-core', 'libreoffice-writer']);
    const situation = { writer: [BACKPORT, ...BOOKWORM], dialogues: [BACKPORT], installed };
    expect(needsBackports(situation)).to.equal(false);
    expect(chooseOffice(situation)).to.deep.equal([{ packages: DESKTOP_OFFICE_PACKAGES }]);
  });

  it('removes nothing but the kind without windows, and that only for the one with them', () => {
    const desktop = { packages: DESKTOP_OFFICE_PACKAGES };
    expect(mayRemove(desktop, ['libreoffice-core-nogui', 'libreoffice-writer-nogui'])).to.equal(true);
    expect(mayRemove(desktop, ['libreoffice-core-nogui', 'gimp'])).to.equal(false);
    expect(mayRemove({ packages: OFFICE_PACKAGES }, ['libreoffice-core'])).to.equal(false);
    expect(mayRemove({ packages: OFFICE_PACKAGES }, [])).to.equal(true);
  });

  it('guesses where apt cannot be asked', () => {
    expect(guessOffice('bookworm')).to.deep.equal({ packages: OFFICE_PACKAGES, suite: 'bookworm-backports' });
    expect(guessOffice(undefined)).to.deep.equal({ packages: OFFICE_PACKAGES });
  });
});

describe('what conversions need', () => {
  const all = [...ENGINE_PACKAGES.map(({ name }) => name), ...OFFICE_PACKAGES];

  it('is all missing on an empty machine, without the fonts that nobody asked for', () => {
    expect(findMissing(nothing, false, noPrograms)).to.deep.equal({ packages: ENGINE_PACKAGES.map(({ name }) => name), office: true });
  });

  it('is all there when the packages are, with either kind of LibreOffice', () => {
    expect(findMissing(new Set(all), false, noPrograms)).to.deep.equal({ packages: [], office: false });
    expect(findMissing(new Set([...all, ...DESKTOP_OFFICE_PACKAGES].filter((name) => !name.endsWith('-nogui'))), false, noPrograms)).to.deep.equal({ packages: [], office: false });
  });

  it('is not there with a LibreOffice that comments make abort', () => {
    expect(findMissing(new Set(all.filter((name) => name !== 'libreoffice-uiconfig-writer')), false, noPrograms).office).to.equal(true);
  });

  it('asks for no package whose programs somebody brought by other ways, when they are all there', () => {
    expect(findMissing(nothing, false, (name) => name === 'ffmpeg' || name === 'ffprobe').packages).to.include('poppler-utils').and.not.include('ffmpeg');
    expect(findMissing(nothing, false, (name) => name === 'ffmpeg').packages).to.include('ffmpeg');
  });

  it('has the Noto fonts when they are asked for', () => {
    expect(findMissing(new Set(all), true, noPrograms)).to.deep.equal({ packages: [...NOTO_PACKAGES], office: false });
  });
});

describe('what somebody without root is told', () => {
  it('is every command, with the suite that one of them takes', () => {
    const orders = [{ packages: ['ffmpeg', 'qpdf'] }, { packages: ['python3-uno'], suite: 'bookworm-backports' }];
    expect(commandsFor(orders, 'http://archive.example/debian').split('\n')).to.deep.equal([
      '  sudo apt-get update',
      '  sudo apt-get install --no-install-recommends ffmpeg qpdf',
      "  echo 'deb http://archive.example/debian bookworm-backports main' | sudo tee /etc/apt/sources.list.d/bookworm-backports.list",
      '  sudo apt-get update',
      '  sudo apt-get install --no-install-recommends -t bookworm-backports python3-uno',
    ]);
    expect(commandsFor(orders, undefined)).to.contain('# add the suite bookworm-backports to the sources of apt, then\n');
  });
});

describe('the versions of a package', () => {
  it('are read with their suites, and without the sources of packages', () => {
    const table = [
      'libreoffice-writer-nogui | 4:25.2.3-2+deb13u5~bpo12+1 | http://archive.example/debian bookworm-backports/main amd64 Packages',
      'libreoffice-writer-nogui | 4:7.4.7-1+deb12u14 | http://archive.example/debian bookworm/main amd64 Packages',
      'libreoffice | 4:7.4.7-1+deb12u14 | http://archive.example/debian bookworm/main Sources',
      '',
    ].join('\n');
    expect(parseMadison(table)).to.deep.equal([BACKPORT, at('4:7.4.7-1+deb12u14', 'bookworm')]);
  });
});
