import { expect } from 'chai';
import { parseDeb822, parseOneLine } from '../../../services/standalone/setup/apt-sources.ts';

describe('the sources of apt', () => {
  it('are read from stanzas with several addresses, a comment and an embedded key', () => {
    const text = [
      'Types: deb deb-src',
      '# a comment inside',
      'URIs: http://one.example/debian http://two.example/debian',
      'Suites: bookworm bookworm-updates',
      'Components: main contrib',
      'Signed-By:',
      ' -----BEGIN PGP PUBLIC KEY BLOCK-----',
      ' .',
      ' abc',
      '',
      'Types: deb-src',
      'URIs: http://sources.example/debian',
      'Suites: bookworm',
      'Components: main',
      '',
      'Enabled: no',
      'Types: deb',
      'URIs: http://off.example/debian',
      'Suites: bookworm',
      'Components: main',
    ].join('\n');
    const sources = parseDeb822(text);
    expect(sources.map((source) => source.uri)).to.deep.equal(['http://one.example/debian', 'http://two.example/debian']);
    expect(sources[0]?.suites).to.deep.equal(['bookworm', 'bookworm-updates']);
    expect(sources[0]?.signedBy).to.equal('\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc');
  });

  it('are read from one-line entries with and without options', () => {
    const text = [
      '# deb http://off.example/debian bookworm main',
      'deb http://one.example/debian bookworm main contrib # why',
      'deb [arch=amd64 signed-by=/a.gpg,/b.gpg] http://two.example/debian trixie main',
      'deb-src http://one.example/debian bookworm main',
    ].join('\n');
    expect(parseOneLine(text)).to.deep.equal([
      { uri: 'http://one.example/debian', suites: ['bookworm'], components: ['main', 'contrib'], signedBy: undefined },
      { uri: 'http://two.example/debian', suites: ['trixie'], components: ['main'], signedBy: '/a.gpg /b.gpg' },
    ]);
  });
});
