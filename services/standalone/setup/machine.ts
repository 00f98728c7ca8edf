import { readFile } from 'node:fs/promises';
import { findTool } from '../../../shared/tools/find-tool.ts';

/** What the set-up has to know of the machine that it runs on. */
export interface Machine {
  /** Debian or a system made from it, with its programs to install packages. */
  readonly isDebianKin: boolean;
  /** Code name of the release whose archive the machine uses: of Debian's or Ubuntu's, also on what is made from them. */
  readonly codename: string | undefined;
  readonly isRoot: boolean;
}

/** What `/etc/os-release` says. */
export interface Release {
  readonly isDebianKin: boolean;
  readonly codename: string | undefined;
}

/** Reads the text of an `os-release` file; one that says nothing is that of no system we know. */
export function parseRelease(text: string): Release {
  const fields = new Map([...text.matchAll(/^([A-Z_]+)=["']?([^"'\n]*)["']?$/gm)].map(([, name = '', value = '']) => [name, value]));
  const kin = `${fields.get('ID') ?? ''} ${fields.get('ID_LIKE') ?? ''}`.split(' ');
  // What is made from Debian or Ubuntu has a code name of its own, and names theirs beside it.
  const codename = ['DEBIAN_CODENAME', 'UBUNTU_CODENAME', 'VERSION_CODENAME'].map((name) => fields.get(name)).find((name) => name !== undefined && /^[\w-]+$/.test(name));
  return { isDebianKin: kin.includes('debian'), codename };
}

/** Looks at this machine. */
export async function inspectMachine(): Promise<Machine> {
  const { isDebianKin, codename } = parseRelease(await readFile('/etc/os-release', 'utf8').catch(() => ''));
  const hasPrograms = ['apt-get', 'apt-cache', 'dpkg-query'].every((name) => findTool(name) !== undefined);
  return { isDebianKin: isDebianKin && hasPrograms, codename, isRoot: process.getuid?.() === 0 };
}
