import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { findTool } from '../../../shared/tools/find-tool.ts';
import { readAptSources, type AptSource } from './apt-sources.ts';
import { placeTool } from './place-tool.ts';
import { runCommand } from './run-command.ts';
import { briefly, type Attempt } from './step.ts';

/** Ten megabytes of package list over a slow line. */
const UPDATE_LIMIT_MS = 120_000;
const DOWNLOAD_LIMIT_MS = 90_000;
const UNPACK_LIMIT_MS = 30_000;
/** A mirror that does not answer for so long is away. */
const MIRROR_TIMEOUT_SECONDS = 10;
/** Names that a machine may have for its own suite besides the code name. */
const MOVING_SUITES = new Set(['stable', 'oldstable', 'testing', 'unstable', 'sid']);

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
  const ownSuite = await readOwnSuite();
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

async function readOwnSuite(): Promise<string | undefined> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^VERSION_CODENAME="?([\w-]+)"?$/m.exec(release)?.[1];
}

/** Archives of the distribution itself: not its security updates, nor those of other makers. */
function isMainArchive(source: AptSource, ownSuite: string | undefined): boolean {
  const isOwn = source.suites.some((suite) => suite === ownSuite || MOVING_SUITES.has(suite));
  return isOwn && source.components.includes('main') && !source.uri.startsWith('cdrom:');
}

/** Writes sources and settings for a private apt and returns the path of its configuration. */
async function prepareApt(work: string, archives: readonly AptSource[], suite: string): Promise<string> {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'sources']) await mkdir(join(work, folder), { recursive: true });
  const stanzas = archives.map(({ uri, signedBy }) =>
    ['Types: deb', `URIs: ${uri}`, `Suites: ${suite}`, 'Components: main', ...(signedBy === undefined ? [] : [`Signed-By: ${signedBy}`])].join('\n'),
  );
  await writeFile(join(work, 'sources', 'wanted.sources'), `${stanzas.join('\n\n')}\n`);
  const configuration = join(work, 'apt.conf');
  await writeFile(
    configuration,
    [
      'Dir::Etc::SourceList "/dev/null";',
      `Dir::Etc::SourceParts "${join(work, 'sources')}";`,
      `Dir::State::Lists "${join(work, 'lists')}";`,
      `Dir::Cache "${join(work, 'cache')}";`,
      `APT::Sandbox::User "${userInfo().username}";`,
      'Debug::NoLocking "1";',
      'Acquire::Languages "none";',
      'Acquire::Retries "0";',
      // Without it a mirror that is away is only a warning, and the package merely seems not to exist.
      'APT::Update::Error-Mode "any";',
      `Acquire::http::Timeout "${MIRROR_TIMEOUT_SECONDS}";`,
      `Acquire::https::Timeout "${MIRROR_TIMEOUT_SECONDS}";`,
      // What the machine does after its own updates is not meant for ours, and may need root.
      '#clear APT::Update::Pre-Invoke;',
      '#clear APT::Update::Post-Invoke;',
      '#clear APT::Update::Post-Invoke-Success;',
      '',
    ].join('\n'),
  );
  return configuration;
}
