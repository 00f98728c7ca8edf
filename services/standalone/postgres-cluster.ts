import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { tieCommand, type Identity } from './processes.ts';

/** initdb takes under a second; a slow disk may take a minute. */
const INITDB_LIMIT_MS = 120_000;

const execute = promisify(execFile);

/** A data folder to be made. */
export interface ClusterOptions {
  readonly initdb: string;
  readonly data: string;
  readonly identity: Identity | undefined;
  readonly user: string;
  readonly password: string;
}

/**
 * Makes the data folder of Postgres, owned by the user it will run as. The folder gets its name when it is complete,
 * so that a start that was killed half way leaves nothing that looks like a database.
 * @throws Error with the words of initdb.
 */
export async function createCluster(options: ClusterOptions): Promise<void> {
  const parent = dirname(options.data);
  const unfinished = join(parent, 'data.unfinished');
  const passwordFile = join(parent, `.password-${randomBytes(6).toString('hex')}`);
  // The initdb of a predecessor that was killed may still be writing its last files.
  await rm(unfinished, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  await mkdir(unfinished, { mode: 0o700 });
  try {
    await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
    if (options.identity !== undefined) {
      await chown(unfinished, options.identity.uid, options.identity.gid);
      await chown(passwordFile, options.identity.uid, options.identity.gid);
    }
    const args = ['-D', unfinished, '-U', options.user, '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8', '--locale=C', '--lc-messages=C'];
    const tied = tieCommand(options.initdb, args, { onParentDeath: 'SIGTERM', identity: options.identity });
    await execute(tied.command, tied.args, { ...tied.identity, cwd: unfinished, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, timeout: INITDB_LIMIT_MS });
    await rename(unfinished, options.data);
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(`the Postgres data folder could not be made: ${words}`, { cause: error });
  } finally {
    await rm(passwordFile, { force: true });
  }
}
