import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findTool } from '../../../../shared/tools/find-tool.ts';

/** The office suite of this machine. */
export interface Installation {
  /** Absolute path of the program itself, without the script around it. */
  readonly soffice: string;
  /** Its folder; what it reads is below and beside it. */
  readonly folder: string;
  /** The Python that knows the suite's own modules. */
  readonly python: string;
  /** Stamp of its build; a profile with another one is first brought up to date, which takes a tenth of a second. */
  readonly buildId: string | undefined;
}

/** The packages that bring all of it on Debian and Ubuntu; without the last but one, a comment in a text ends the suite. */
export const OFFICE_PACKAGES = 'libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui libreoffice-uiconfig-writer python3-uno';

/** The system's own Python, for which Debian builds python3-uno; one on the PATH may be another. */
const PYTHON = '/usr/bin/python3';

/** Looks for LibreOffice and the Python that can talk to it; undefined when one of them is missing. */
export function findInstallation(): Installation | undefined {
  const script = findTool('soffice');
  if (script === undefined || !existsSync(PYTHON)) return undefined;
  const folder = dirname(realpathSync(script));
  const soffice = join(folder, 'soffice.bin');
  return existsSync(soffice) ? { soffice, folder, python: PYTHON, buildId: readBuildId(folder) } : undefined;
}

function readBuildId(folder: string): string | undefined {
  const path = join(folder, 'versionrc');
  return existsSync(path) ? /^buildid=(.+)$/m.exec(readFileSync(path, 'utf8'))?.[1] : undefined;
}
