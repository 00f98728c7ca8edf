import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { AptSource } from './apt-sources.ts';

/** Names that a machine may have for its own suite besides the code name. */
const MOVING_SUITES = new Set(['stable', 'oldstable', 'testing', 'unstable', 'sid']);
/** A mirror that does not answer for so long is away. */
const MIRROR_TIMEOUT_SECONDS = 10;

/** Archives of the distribution itself: not its security updates, nor those of other makers. */
export function isMainArchive(source: AptSource, ownSuite: string | undefined): boolean {
  const isOwn = source.suites.some((suite) => suite === ownSuite || MOVING_SUITES.has(suite));
  return isOwn && source.components.includes('main') && !source.uri.startsWith('cdrom:');
}

/** One suite of an archive, as a stanza of a sources file. */
export function writeStanza({ uri, signedBy }: AptSource, suite: string, components: readonly string[]): string {
  const lines = ['Types: deb', `URIs: ${uri}`, `Suites: ${suite}`, `Components: ${components.join(' ')}`];
  return [...lines, ...(signedBy === undefined ? [] : [`Signed-By: ${signedBy}`]), ''].join('\n');
}

/** Settings of an apt that keeps lists and downloads in a folder of its own, and reads the sources in `sources/` there. */
export function privateSettings(folder: string): readonly string[] {
  return [
    `Dir::Etc::SourceParts "${join(folder, 'sources')}";`,
    `Dir::State::Lists "${join(folder, 'lists')}";`,
    `Dir::Cache "${join(folder, 'cache')}";`,
    `APT::Sandbox::User "${userInfo().username}";`,
    'Acquire::Languages "none";',
    `Acquire::http::Timeout "${MIRROR_TIMEOUT_SECONDS}";`,
    `Acquire::https::Timeout "${MIRROR_TIMEOUT_SECONDS}";`,
    // What the machine does after its own updates is not meant for ours, and may need root.
    '#clear APT::Update::Pre-Invoke;',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
  ];
}

/** Folders that apt expects to find below the one of `privateSettings`. */
export const PRIVATE_FOLDERS = ['lists/partial', 'cache/archives/partial', 'sources'] as const;
