import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTool } from '../../../shared/tools/find-tool.ts';
import { isMainArchive, PRIVATE_FOLDERS, privateSettings, writeStanza } from './apt-archive.ts';
import { readAptSources, type AptSource } from './apt-sources.ts';
import { inspectMachine } from './machine.ts';
import { placeTool } from './place-tool.ts';
import { runCommand } from './run-command.ts';
import { briefly, type Attempt } from './step.ts';

/** Ten megabytes of package list over a slow line. */
const UPDATE_LIMIT_MS = 120_000;
const DOWNLOAD_LIMIT_MS = 90_000;
const UNPACK_LIMIT_MS = 30_000;

/** A program inside a Debian package. `suite` undefined means the suite of this machine. */
export interface WantedPackage {
  readonly name: string;
  readonly suite: string | undefined;
  /** Path of the program inside the package. */
  readonly program: string;
  /** Name under which it goes into `.tools/`. */
  readonly tool: string;
}

/**
 * Gets one program out of a package of the mirror that this machine itself is configured with. apt works on lists of
 * its own in a temporary folder: nothing is installed, nothing of the system changes, and no root is needed.
 */
export async function fetchFromDebian(wanted: WantedPackage): Promise<Attempt<string>> {
  if (findTool('apt-get') === undefined || findTool('dpkg-deb') === undefined) return { reason: 'this machine has no apt' };
  const ownSuite = (await inspectMachine()).codename;
  const archives = (await readAptSources('/etc/apt')).filter((source) => isMainArchive(source, ownSuite));
  const suite = wanted.suite ?? ownSuite;
  if (archives.length === 0 || suite === undefined) return { reason: 'the sources of apt name no main archive' };
  const work = await mkdtemp(join(tmpdir(), 'debian-package-'));
  try {
    const configuration = await prepareApt(work, archives, suite);
    await runCommand('apt-get', [`-c=${configuration}`, '-qq', 'update'], { limitMs: UPDATE_LIMIT_MS });
    await runCommand('apt-get', [`-c=${configuration}`, '-qq', 'download', wanted.name], { limitMs: DOWNLOAD_LIMIT_MS, cwd: work });
    const archive = (await readdir(work)).find((name) => name.endsWith('.deb'));
    if (archive === undefined) return { reason: `${suite} has no package ${wanted.name}` };
    await runCommand('dpkg-deb', ['-x', join(work, archive), join(work, 'unpacked')], { limitMs: UNPACK_LIMIT_MS });
    return { value: await placeTool(wanted.tool, join(work, 'unpacked', wanted.program)) };
  } catch (error) {
    return { reason: briefly(error) };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Writes sources and settings for a private apt and returns the path of its configuration. */
async function prepareApt(work: string, archives: readonly AptSource[], suite: string): Promise<string> {
  for (const folder of PRIVATE_FOLDERS) await mkdir(join(work, folder), { recursive: true });
  await writeFile(join(work, 'sources', 'wanted.sources'), archives.map((source) => writeStanza(source, suite, ['main'])).join('\n'));
  const configuration = join(work, 'apt.conf');
  await writeFile(
    configuration,
    [
      ...privateSettings(work),
      'Dir::Etc::SourceList "/dev/null";',
      'Debug::NoLocking "1";',
      'Acquire::Retries "0";',
      // Without it a mirror that is away is only a warning, and the package merely seems not to exist.
      'APT::Update::Error-Mode "any";',
      '',
    ].join('\n'),
  );
  return configuration;
}
