import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { findTool } from '../../../shared/tools/find-tool.ts';

/** The programs of the host that a sandbox is built from; each may be missing. */
export interface HostTools {
  readonly bwrap: string | undefined;
  readonly setpriv: string | undefined;
  readonly prlimit: string | undefined;
}

/** Looks for the sandbox's programs; `bwrapPath` is the operator's own choice. */
export function findHostTools(bwrapPath?: string): HostTools {
  return { bwrap: findTool('bwrap', bwrapPath), setpriv: findTool('setpriv'), prlimit: findTool('prlimit') };
}

/** True when this process may become other users. */
export function runsAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Folders of the root that hold programs and libraries, besides /usr. */
const SYSTEM_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64'] as const;

/** Read-only files of /etc and caches that programs and fonts need; none holds a secret. */
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/fonts', '/etc/alternatives', '/var/cache/fontconfig', '/etc/libreoffice', '/var/lib/libreoffice'] as const;

/** Settings of programs that an administrator installed; they may hold passwords, and no converter reads them. */
const HIDDEN_FOLDER = '/usr/local/etc';

/** bwrap arguments that show the system's programs and libraries, read-only, whether /usr is merged or not. */
export function systemMounts(): string[] {
  const folders = SYSTEM_FOLDERS.flatMap((folder) => {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) return [];
    return found.isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
  });
  const hidden = existsSync(HIDDEN_FOLDER) ? ['--perms', '0755', '--tmpfs', HIDDEN_FOLDER, '--remount-ro', HIDDEN_FOLDER] : [];
  return ['--ro-bind', '/usr', '/usr', ...hidden, ...folders, ...parentFolders(SYSTEM_FILES), ...SYSTEM_FILES.flatMap((file) => ['--ro-bind-try', file, file])];
}

/** bwrap arguments that make the folders above mount points; those it makes by itself let only root through. */
export function parentFolders(paths: readonly string[]): string[] {
  const folders = new Set(paths.flatMap((path) => listAncestors(path)));
  return [...folders].toSorted().flatMap((folder) => ['--perms', '0755', '--dir', folder]);
}

function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === '/' ? [] : [...listAncestors(parent), parent];
}
