import { chown, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { ConfigurationError } from '../../../shared/errors/errors.ts';
import { confine, environment, type Confinement, type JobDir, type Limits } from './command.ts';
import { findHostTools, runsAsRoot, type HostTools } from './host.ts';
import { makeJobFolder, removeJobFolder, removeLeftFolders } from './job-folders.ts';
import { startConfined, type ConfinedProcess } from './process.ts';
import type { Program } from './program.ts';
import { testConfinement, type SelfTest } from './self-test.ts';
import { limitsTogether } from './watch.ts';

/**
 * Values of `CONVERTER_SANDBOX`: bubblewrap or no service; only bounds and no privileges, for containers in which
 * bubblewrap may not run; nothing at all.
 */
const SANDBOX_MODES = ['require', 'limits', 'off'] as const;

/** How the converter's sandbox is set up. */
export interface SandboxSettings {
  readonly mode: (typeof SANDBOX_MODES)[number];
  /** The operator's own bubblewrap; default: PATH, then `.tools/`. */
  readonly bwrapPath?: string;
  /** Folder for the private folders of jobs; default: the system's temporary folder. */
  readonly scratchDir?: string;
}

/** One process of a job. */
export interface Task {
  readonly program: Program;
  readonly job: JobDir;
  readonly limits: Limits;
  /** Wall-clock time the process group may take, milliseconds. */
  readonly timeLimitMs: number;
  readonly signal?: AbortSignal;
}

/** Runs programs that read files of strangers. */
export interface Sandbox {
  readonly level: Confinement['level'];
  /** Why the sandbox is weaker than bubblewrap, one sentence each; the operator must see them. */
  readonly warnings: readonly string[];
  /** Makes an empty private folder for one job. */
  openJob(): Promise<JobDir>;
  /** Removes a job's folder and all in it. */
  closeJob(job: JobDir): Promise<void>;
  /** Starts a program in the job's folder, in a process group of its own, with an empty environment. */
  spawn(task: Task): ConfinedProcess;
}

/** First of the user ids given to jobs, far from those of people and packages; a job's user runs nothing else. */
const JOB_UID_FIRST = 64_000;
const JOB_UIDS = 1_000;

/**
 * Sets up the confinement that the operator asked for and proves it: a probe inside must not reach a listener outside nor
 * read a planted file. Anything weaker than bubblewrap has to be asked for. Removes the folders of jobs whose converter
 * was killed.
 * @throws ConfigurationError when it does not work here, or when bubblewrap runs but leaks.
 */
export async function createSandbox(settings: SandboxSettings): Promise<Sandbox> {
  const scratchDir = settings.scratchDir ?? tmpdir();
  await mkdir(scratchDir, { recursive: true });
  await removeLeftFolders(scratchDir);
  if (settings.mode === 'off') return openSandbox({ level: 'none' }, false, scratchDir, ['CONVERTER_SANDBOX is off: converters run with our own rights']);
  const tools = findHostTools(settings.bwrapPath);
  const problems = listMissing(tools, settings.mode);
  for (const { name, confinement, ownUser } of listCandidates(tools, settings.mode)) {
    const found = await testConfinement(openSandbox(confinement, ownUser, scratchDir, []));
    if (found.ran) return openSandbox(confinement, ownUser, scratchDir, weaknesses(confinement.level, found));
    problems.push(`${name} does not work here (${found.reason})`);
  }
  throw new ConfigurationError([`CONVERTER_SANDBOX=${settings.mode}: ${problems.join('; ')}. ${ADVICE}`]);
}

/** What an operator can do who has no working sandbox. */
const ADVICE = 'Install the package bubblewrap and allow user namespaces; or set CONVERTER_SANDBOX=limits where the converter has a container of its own whose network reaches nothing but NATS and the bucket';

function listMissing(tools: HostTools, mode: 'require' | 'limits'): string[] {
  const needed = mode === 'require' ? (['bwrap', 'prlimit'] as const) : (['setpriv', 'prlimit'] as const);
  return needed.filter((name) => tools[name] === undefined).map((name) => `${PACKAGE_OF[name]} is not installed`);
}

const PACKAGE_OF = { bwrap: 'bubblewrap', prlimit: 'util-linux (prlimit)', setpriv: 'util-linux (setpriv)' } as const;

interface Candidate {
  readonly name: string;
  readonly confinement: Confinement;
  readonly ownUser: boolean;
}

/** Strongest first. As root each job gets a user of its own; without, it can only share ours. */
function listCandidates({ bwrap, prlimit, setpriv }: HostTools, mode: 'require' | 'limits'): Candidate[] {
  const root = runsAsRoot();
  if (prlimit === undefined || (setpriv === undefined && root)) return [];
  if (mode === 'require') return bwrap === undefined ? [] : [{ name: 'bubblewrap', confinement: { level: 'bubblewrap', bwrap, prlimit, setpriv }, ownUser: root }];
  if (setpriv === undefined) return [];
  const confinement: Confinement = { level: 'limits', prlimit, setpriv };
  const shared = { name: 'prlimit', confinement, ownUser: false };
  return root ? [{ name: 'setpriv with a user of its own', confinement, ownUser: true }, shared] : [shared];
}

/** What the operator must be told at every start. Only bubblewrap promises that nothing gets out, so where it leaks it is broken. */
function weaknesses(level: Confinement['level'], { reachedListener, readPlanted }: Extract<SelfTest, { ran: true }>): string[] {
  const leaks = [reachedListener ? 'reach the network' : [], readPlanted ? 'read files of the host' : []].flat().join(' and ');
  if (level === 'bubblewrap' && leaks !== '') throw new ConfigurationError([`CONVERTER_SANDBOX: bubblewrap runs, but a program inside can ${leaks}; repair or replace it`]);
  if (level === 'bubblewrap') return [];
  return [`CONVERTER_SANDBOX is limits: converters can ${leaks === '' ? 'see more than their own folder' : leaks}; the container around this service has to stop them`];
}

function openSandbox(confinement: Confinement, ownUser: boolean, scratchDir: string, warnings: readonly string[]): Sandbox {
  let jobs = process.pid;
  return {
    level: confinement.level,
    warnings,
    openJob: async () => {
      const path = await makeJobFolder(scratchDir);
      if (!ownUser) return { path, uid: undefined };
      const uid = JOB_UID_FIRST + (jobs++ % JOB_UIDS);
      await chown(path, uid, uid);
      return { path, uid };
    },
    closeJob: (job) => removeJobFolder(job.path),
    spawn: ({ program, job, limits, timeLimitMs, signal }) =>
      startConfined(confine(confinement, program, job, limits), {
        cwd: job.path,
        env: environment(job.path),
        timeLimitMs,
        together: limitsTogether(limits),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}
