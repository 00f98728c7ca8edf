import { expect } from 'chai';
import { parseRelease } from '../../../services/standalone/setup/machine.ts';

describe('the release of a machine', () => {
  it('is that of Debian', () => {
    const text = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n';
    expect(parseRelease(text)).to.deep.equal({ isDebianKin: true, codename: 'bookworm' });
  });

  it('is that of Ubuntu', () => {
    const text = 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\nUBUNTU_CODENAME=noble\n';
    expect(parseRelease(text)).to.deep.equal({ isDebianKin: true, codename: 'noble' });
  });

  it('is, on what is made from Debian or Ubuntu, the one whose archive it uses', () => {
    expect(parseRelease('ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n')).to.deep.equal({ isDebianKin: true, codename: 'noble' });
    expect(parseRelease('ID=linuxmint\nID_LIKE=debian\nVERSION_CODENAME=faye\nDEBIAN_CODENAME=bookworm\n')).to.deep.equal({ isDebianKin: true, codename: 'bookworm' });
  });

  it('is nobody’s where the name only looks like it, and has no code name where none is given', () => {
    expect(parseRelease('ID=fedora\nNAME="Not debian"\nVERSION_CODENAME=""\n')).to.deep.equal({ isDebianKin: false, codename: undefined });
    expect(parseRelease('ID="almalinux"\nID_LIKE="rhel centos fedora"\n')).to.deep.equal({ isDebianKin: false, codename: undefined });
    expect(parseRelease('ID=debian\nVERSION_CODENAME="a name"\n')).to.deep.equal({ isDebianKin: true, codename: undefined });
    expect(parseRelease('')).to.deep.equal({ isDebianKin: false, codename: undefined });
  });
});
