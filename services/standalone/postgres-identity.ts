import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { canWalkAnywhere, type Identity } from './processes.ts';

/** Postgres refuses to run as root; these are the users that are there for such cases, best first. */
const ORDINARY_USERS = ['postgres', 'nobody'];
/** Permission bits to walk through a folder, for its owner, its group and everybody. */
const SEARCH = { owner: 0o100, group: 0o010, others: 0o001 };

/**
 * As whom Postgres runs, so that it gets to `paths`: undefined for "as ourselves", which only root may not.
 * @throws Error that says what to do when root finds no ordinary user, or none that gets there.
 */
export async function choosePostgresIdentity(paths: readonly string[]): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const identity = await findOrdinaryUser();
  for (const path of paths) {
    const closed = await findClosedFolder(path, identity);
    if (closed === undefined) continue;
    if (paths.every((each) => canWalkAnywhere(dirname(each), identity))) return { ...identity, walksAnywhere: true };
    throw new Error(
      `Postgres does not run as root, and the user it runs as instead (uid ${identity.uid}) may not enter ${closed} on the way to ${path}. ` +
        'Start as an ordinary user, or move project and DATA_DIR to a folder that everybody may enter, or set DATABASE_URL to a Postgres of your own.',
    );
  }
  return identity;
}

async function findOrdinaryUser(): Promise<Identity> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n');
  for (const user of ORDINARY_USERS) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${user}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(`Postgres does not run as root and there is no user ${ORDINARY_USERS.join(' or ')}; start as an ordinary user or set DATABASE_URL`);
}

/**
 * The first folder on the way to `path` through which `identity` may not walk; undefined when the way is free.
 * Root's own home folder (mode 0700) is the usual case.
 */
async function findClosedFolder(path: string, identity: Identity): Promise<string | undefined> {
  const folders: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  for (const folder of folders) {
    const { mode, uid, gid } = await stat(folder);
    const bit = uid === identity.uid ? SEARCH.owner : gid === identity.gid ? SEARCH.group : SEARCH.others;
    if ((mode & bit) === 0) return folder;
  }
  return undefined;
}
