import { chown, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { ConfigurationError } from '../../../shared/errors/errors.ts';
import { confine, environment, type Confinement, type JobDir, type Limits } from './command.ts';
import { findHostTools, runsAsRoot, type HostTools } from './host.ts';
import { makeJobFolder, removeJobFolder, removeLeftFolders } from './job-folders.ts';
import { startConfined, type ConfinedProcess } from './process.ts';
import type { Program } from './program.ts';
import { testConfinement, type SelfTest } from './self-test.ts';

/** Values of `CONVERTER_SANDBOX`: the strongest that works, bubblewrap or nothing, none at all. */
const SANDBOX_MODES = ['auto', 'require', 'off'] as const;

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
 * Finds the strongest confinement that works here and proves it: a probe inside must not reach a listener outside nor
 * read a planted file. Removes the folders of jobs whose converter was killed.
 * @throws ConfigurationError when mode is `require` and bubblewrap does not work, or when bubblewrap runs but leaks.
 */
export async function createSandbox(settings: SandboxSettings): Promise<Sandbox> {
  const scratchDir = settings.scratchDir ?? tmpdir();
  await mkdir(scratchDir, { recursive: true });
  await removeLeftFolders(scratchDir);
  if (settings.mode === 'off') return openSandbox({ level: 'none' }, false, scratchDir, ['CONVERTER_SANDBOX is off: converters run with our own rights']);
  const tools = findHostTools(settings.bwrapPath);
  const warnings = tools.bwrap === undefined ? ['bubblewrap is not installed: converters can reach the network and read files'] : [];
  const candidates = listCandidates(tools).filter(({ confinement }) => settings.mode === 'auto' || confinement.level === 'bubblewrap');
  for (const candidate of candidates) {
    const sandbox = openSandbox(candidate.confinement, candidate.ownUser, scratchDir, warnings);
    const found = await testConfinement(sandbox);
    if (found.ran) {
      refuseLeak(sandbox.level, found);
      return sandbox;
    }
    warnings.push(`${candidate.name} does not work here (${found.reason})`);
  }
  if (settings.mode === 'require') throw new ConfigurationError([`CONVERTER_SANDBOX=require: ${warnings.join('; ')}`]);
  return openSandbox({ level: 'none' }, false, scratchDir, warnings);
}

interface Candidate {
  readonly name: string;
  readonly confinement: Confinement;
  readonly ownUser: boolean;
}

/** Strongest first. As root each job gets a user of its own; without, it can only share ours. */
function listCandidates({ bwrap, prlimit, setpriv }: HostTools): Candidate[] {
  const root = runsAsRoot();
  const candidates: Candidate[] = [];
  if (prlimit !== undefined && bwrap !== undefined && (setpriv !== undefined || !root)) {
    candidates.push({ name: 'bubblewrap', confinement: { level: 'bubblewrap', bwrap, prlimit, setpriv }, ownUser: root });
  }
  if (prlimit !== undefined && setpriv !== undefined) {
    const confinement: Confinement = { level: 'limits', prlimit, setpriv };
    if (root) candidates.push({ name: 'setpriv with a user of its own', confinement, ownUser: true });
    candidates.push({ name: 'prlimit', confinement, ownUser: false });
  }
  return candidates;
}

function refuseLeak(level: Confinement['level'], { reachedListener, readPlanted }: Extract<SelfTest, { ran: true }>): void {
  if (level !== 'bubblewrap' || !(reachedListener || readPlanted)) return;
  const leak = reachedListener ? 'reach the network' : 'read files of the host';
  throw new ConfigurationError([`CONVERTER_SANDBOX: bubblewrap runs, but a program inside can ${leak}; repair or replace it`]);
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
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}
