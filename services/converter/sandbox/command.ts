import { release } from 'node:os';
import { findProjectRoot } from '../../../shared/tools/project-root.ts';
import { parentFolders, systemMounts } from './host.ts';
import type { Program } from './program.ts';
import { systemCallFilter } from './system-calls.ts';

/**
 * How a conversion is confined. `bubblewrap`: no network, no files but the system's and its own, own process table, a
 * user of its own. `limits`: bounded resources and no new privileges, as root also a user of its own. `none`: nothing.
 */
export type Confinement =
  | { readonly level: 'bubblewrap'; readonly bwrap: string; readonly prlimit: string; readonly setpriv: string | undefined }
  | { readonly level: 'limits'; readonly prlimit: string; readonly setpriv: string }
  | { readonly level: 'none' };

/** What one process may use. */
export interface Limits {
  /** Largest file it may write, bytes. */
  readonly fileBytesMax: number;
  /** Processor time over all its threads, seconds. */
  readonly cpuSecondsMax: number;
  /** Private memory, bytes. Node reserves far more addresses than it uses, so the address space is not bounded. */
  readonly memoryBytesMax: number;
  /** Addresses, also of what is only mapped, bytes; for programs that do not reserve more than they use. */
  readonly addressBytesMax?: number;
}

/** A job's private folder. */
export interface JobDir {
  readonly path: string;
  /** The user that owns it and runs what works in it; undefined when it is our own user. */
  readonly uid: number | undefined;
}

/** Where a job's folder is inside bubblewrap. Programs start in it at every level, so relative paths work everywhere. */
const JOB_INSIDE = '/job';

/** Threads and processes of one job's user; Node with libvips has about fifteen. */
const PROCESSES_MAX = 128;

/** Open files of one process. */
const FILES_MAX = 256;

/** Bytes of the private /tmp, which lives in memory. */
const TEMP_BYTES_MAX = 256 * 1024 * 1024;

/** Seconds between the signal that a processor limit sends first and the kill that nobody can ignore. */
const CPU_GRACE_SECONDS = 2;

/** What it takes to enter a folder of another user and to become that user; setpriv gives all of them up. */
const CAPABILITIES_OF_SETPRIV = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_DAC_READ_SEARCH'] as const;

/** What really may be in the environment of a converter: it starts empty, so no secret of ours can be in it. */
export function environment(folder: string): Readonly<Record<string, string>> {
  return { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' };
}

/** A command line, ready for spawn; arguments are a list, so no shell ever reads them. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  /** Filter of system calls, to be written into its file descriptor `FILTER_DESCRIPTOR`. */
  readonly filter?: Buffer;
}

/** The first descriptor after those of input, output and errors. */
export const FILTER_DESCRIPTOR = 3;

const FILTER = systemCallFilter(process.arch);

/** The command line that runs `program` for a job under a confinement. */
export function confine(confinement: Confinement, program: Program, job: JobDir, limits: Limits): CommandLine {
  const inner = [program.command, ...program.args];
  switch (confinement.level) {
    case 'none':
      return { command: program.command, args: program.args };
    case 'limits':
      return {
        command: confinement.prlimit,
        args: [...limitArguments(limits, job), confinement.setpriv, '--pdeathsig', 'KILL', ...userArguments(job), ...inner],
      };
    case 'bubblewrap':
      return {
        command: confinement.prlimit,
        args: [...limitArguments(limits, job), confinement.bwrap, ...bubblewrapArguments(confinement, program, job), ...inner],
        ...(FILTER === undefined ? {} : { filter: FILTER }),
      };
  }
}

function limitArguments(limits: Limits, job: JobDir): string[] {
  const own = job.uid === undefined ? [] : [`--nproc=${PROCESSES_MAX}`];
  const cpu = `--cpu=${limits.cpuSecondsMax}:${limits.cpuSecondsMax + CPU_GRACE_SECONDS}`;
  const addresses = limits.addressBytesMax === undefined ? [] : [`--as=${limits.addressBytesMax}`];
  return [`--fsize=${limits.fileBytesMax}`, cpu, `--data=${limits.memoryBytesMax}`, ...addresses, `--nofile=${FILES_MAX}`, '--core=0', ...own];
}

function userArguments({ uid }: JobDir): string[] {
  if (uid === undefined) return ['--no-new-privs'];
  const ids = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  return [...ids, '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'];
}

/**
 * As root, bubblewrap makes no user namespace: it would map our root into the sandbox. It mounts as root, so that the
 * project may lie below folders that others cannot enter, and setpriv then becomes a real unprivileged user.
 */
function bubblewrapArguments({ setpriv, prlimit }: Extract<Confinement, { level: 'bubblewrap' }>, program: Program, job: JobDir): string[] {
  const asRoot = job.uid !== undefined && setpriv !== undefined;
  const capabilities = asRoot ? CAPABILITIES_OF_SETPRIV.flatMap((name) => ['--cap-add', name]) : [];
  const variables = Object.entries(environment(JOB_INSIDE)).flatMap(([name, value]) => ['--setenv', name, value]);
  return [
    ...(asRoot ? [] : ['--unshare-user']),
    '--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try',
    '--die-with-parent', '--new-session', '--cap-drop', 'ALL', ...capabilities,
    '--clearenv', ...variables,
    ...(FILTER === undefined ? [] : ['--seccomp', String(FILTER_DESCRIPTOR)]),
    ...systemMounts(), '--proc', '/proc', '--dev', '/dev',
    '--perms', '1777', '--size', String(TEMP_BYTES_MAX), '--tmpfs', '/tmp',
    ...programMounts(program), '--bind', job.path, JOB_INSIDE,
    // Where the sandbox's user is ours, these would be its own, and writing to them would fill memory.
    '--remount-ro', '/dev', '--remount-ro', '/', '--chdir', JOB_INSIDE, '--',
    ...(asRoot ? [setpriv, ...userArguments(job)] : processLimit(prlimit)),
  ];
}

/**
 * Without a user of its own a job's processes are counted together with all others of ours, unless the kernel counts
 * those of each user namespace by themselves: then the limit is set inside.
 */
function processLimit(prlimit: string): readonly string[] {
  const [major = 0, minor = 0] = release().split('.').map((part) => Number.parseInt(part, 10));
  const countsByNamespace = major > 5 || (major === 5 && minor >= 14);
  return countsByNamespace ? [prlimit, `--nproc=${PROCESSES_MAX}`] : [];
}

/** A project installed below /usr is covered first, else its data folder would be shown together with /usr. */
function programMounts({ readable }: Program): string[] {
  const root = findProjectRoot();
  const cover = root.startsWith('/usr/') ? ['--perms', '0755', '--tmpfs', root] : [];
  const hidden = readable.filter((path) => isHidden(path, root));
  return [...cover, ...parentFolders(hidden), ...hidden.flatMap((path) => ['--ro-bind', path, path]), ...(cover.length > 0 ? ['--remount-ro', root] : [])];
}

function isHidden(path: string, root: string): boolean {
  return !path.startsWith('/usr/') || path.startsWith(`${root}/`);
}
