import { findTool } from '../../../../shared/tools/find-tool.ts';
import { runCommand } from '../run-command.ts';
import { hasOffice } from './choose-office.ts';
import { ENGINE_PACKAGES, NOTO_PACKAGES } from './packages.ts';

/** Reading the list of installed packages takes a fraction of a second. */
const LOOK_LIMIT_MS = 30_000;

/** What is not there of what conversions need. */
export interface Missing {
  /** Packages besides LibreOffice. */
  readonly packages: readonly string[];
  readonly office: boolean;
}

/** Names of all packages that are installed. */
export async function readInstalled(): Promise<ReadonlySet<string>> {
  const table = await runCommand('dpkg-query', ['--show', '--showformat', '${db:Status-Status} ${Package}\n'], { limitMs: LOOK_LIMIT_MS });
  return new Set([...table.matchAll(/^installed (\S+)$/gm)].map(([, name = '']) => name));
}

/** Compares what is installed with what is needed; `hasProgram` finds programs that came by other ways. */
export function findMissing(installed: ReadonlySet<string>, withFonts: boolean, hasProgram = (name: string) => findTool(name) !== undefined): Missing {
  const wanted = ENGINE_PACKAGES.filter(({ name, programs }) => !installed.has(name) && !(programs.length > 0 && programs.every((program) => hasProgram(program))));
  const fonts = withFonts ? NOTO_PACKAGES.filter((name) => !installed.has(name)) : [];
  return { packages: [...wanted.map(({ name }) => name), ...fonts], office: !hasOffice(installed) };
}
