import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ConfigurationError } from '../../../shared/errors/errors.ts';
import { findTool } from '../../../shared/tools/find-tool.ts';
import type { Limits } from '../../../services/converter/sandbox/command.ts';
import type { Exit } from '../../../services/converter/sandbox/process.ts';
import type { Program } from '../../../services/converter/sandbox/program.ts';
import { readText } from '../../../services/converter/sandbox/read-text.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';

const LIMITS: Limits = { fileBytesMax: 1_000_000, cpuSecondsMax: 10, memoryBytesMax: 1024 ** 3 };
const NO_BUBBLEWRAP = { mode: 'limits' } as const;

interface Outcome {
  readonly exit: Exit;
  readonly output: string;
}

function node(code: string): Program {
  return { command: process.execPath, args: ['-e', code], readable: [process.execPath] };
}

function shell(code: string): Program {
  return { command: '/bin/sh', args: ['-c', code], readable: [] };
}

async function run(sandbox: Sandbox, program: Program, limits: Partial<Limits> = {}, timeLimitMs = 15_000): Promise<Outcome> {
  const job = await sandbox.openJob();
  try {
    const child = sandbox.spawn({ program, job, limits: { ...LIMITS, ...limits }, timeLimitMs });
    const [output, exit] = await Promise.all([readText(child.stdout, 10_000), child.done]);
    return { exit, output };
  } finally {
    await sandbox.closeJob(job);
  }
}

/** Whether any process of this machine sleeps for so many seconds; one that nobody has reaped has no command line. */
async function isSleeping(seconds: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.includes(`sleep\0${seconds}\0`);
}

async function waitUntilSleeping(seconds: string, expected: boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await isSleeping(seconds)) === expected) return;
    await delay(20);
  }
  throw new Error(expected ? 'the process never ran' : 'the process still runs');
}

function describeLimits(open: () => Promise<Sandbox>): void {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await open();
  });

  it('starts programs in the job folder with nothing of our environment', async () => {
    const { output } = await run(sandbox, node('require("fs").writeFileSync("mine", "x"); console.log(JSON.stringify(Object.keys(process.env)))'));
    expect(['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR']).to.include.members(JSON.parse(output) as string[]);
  });

  it('gives no privileges, and as root a user of its own to each job', async () => {
    const { output } = await run(sandbox, node('console.log(process.getuid()); console.log(require("fs").readFileSync("/proc/self/status", "utf8"))'));
    expect(output).to.match(/^NoNewPrivs:\s1$/m);
    if (process.getuid?.() !== 0) return;
    expect(Number.parseInt(output, 10)).to.be.within(64_000, 64_999);
    expect(output).to.match(/^CapEff:\s0+$/m).and.to.match(/^CapBnd:\s0+$/m);
  });

  it('bounds the size of files, the processor time and the memory', async () => {
    const file = await run(sandbox, shell('exec head -c 2000000 /dev/zero > big'));
    expect(file.exit.signal).to.equal('SIGXFSZ');
    const cpu = await run(sandbox, node('for (;;);'), { cpuSecondsMax: 1 });
    expect(cpu.exit.signal).to.equal('SIGXCPU');
    const memory = await run(sandbox, node('const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));'));
    expect(memory.exit).to.include({ cause: 'exited' });
    expect(memory.exit.code).not.to.equal(0);
  });

  it('kills all that a program started when its time is over', async () => {
    const seconds = `${process.pid}9`;
    const running = run(sandbox, shell(`sleep ${seconds} & wait`), {}, 2_000);
    await waitUntilSleeping(seconds, true);
    expect((await running).exit.cause).to.equal('timeout');
    await waitUntilSleeping(seconds, false);
  });

  it('reports a program that does not exist instead of throwing', async () => {
    const { exit } = await run(sandbox, { command: '/nonexistent/program', args: [], readable: [] });
    expect(exit.code).not.to.equal(0);
  });
}

describe('the sandbox without bubblewrap', () => {
  it('is refused unless the operator asks for it by name, and the way out is told', async () => {
    const refused = await createSandbox({ mode: 'require', bwrapPath: '/nonexistent/bwrap' }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ConfigurationError);
    expect(refused).to.have.property('message').that.includes('bubblewrap is not installed').and.includes('CONVERTER_SANDBOX=limits');
  });

  it('says at every start what can get out', async () => {
    const { level, warnings } = await createSandbox(NO_BUBBLEWRAP);
    expect(level).to.equal('limits');
    expect(warnings.join()).to.include('reach the network and read files of the host');
  });

  it('runs programs bare, with a warning, when the operator turned it off', async () => {
    const sandbox = await createSandbox({ mode: 'off' });
    expect(sandbox).to.include({ level: 'none' }).and.to.have.property('warnings').that.has.length(1);
    expect((await run(sandbox, shell('sleep 987 & echo $!; sleep 987'), {}, 500)).exit.cause).to.equal('timeout');
  });

  if (findTool('setpriv') !== undefined && findTool('prlimit') !== undefined) {
    describeLimits(() => createSandbox(NO_BUBBLEWRAP));

    it('removes a folder however deep a program has made it', async () => {
      const sandbox = await createSandbox(NO_BUBBLEWRAP);
      const job = await sandbox.openJob();
      const dig = node(`for (let depth = 0; depth < 600; depth += 1) { require('fs').mkdirSync('nested-folder'); process.chdir('nested-folder'); }`);
      const child = sandbox.spawn({ program: dig, job, limits: LIMITS, timeLimitMs: 15_000 });
      const { cause } = await child.done;
      // Whoever watches the folder ends the program when it looks before the program is through.
      expect(cause).to.be.oneOf(['exited', 'over_folder']);
      await sandbox.closeJob(job);
      expect(await stat(job.path).catch(() => undefined)).to.equal(undefined);
    });

    it('leaves no process behind after the end of its leader', async () => {
      const seconds = `${process.pid}8`;
      const sandbox = await createSandbox(NO_BUBBLEWRAP);
      const running = run(sandbox, shell(`sleep ${seconds} >/dev/null 2>&1 & sleep 1`));
      await waitUntilSleeping(seconds, true);
      expect((await running).exit.code).to.equal(0);
      await waitUntilSleeping(seconds, false);
    });
  }
});

if (findTool('bwrap') !== undefined) {
  describe('the sandbox with bubblewrap', () => {
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
      await chmod(folder, 0o755);
    });
    after(() => rm(folder, { recursive: true, force: true }));

    describeLimits(() => createSandbox({ mode: 'require' }));

    it('shows no files but the system, and nothing of it can be written', async () => {
      const sandbox = await createSandbox({ mode: 'require' });
      await writeFile(join(folder, 'planted'), 'x', { mode: 0o644 });
      const { output } = await run(sandbox, shell(`ls / /etc; cat ${folder}/planted; touch /usr/x /x /etc/x; ls /proc | grep -c '^[0-9]'`));
      expect(output).not.to.match(/^(home|root|passwd|shadow|x)$/m);
      expect(Number(output.trim().split('\n').at(-1))).to.be.lessThan(10);
      expect(await stat('/usr/x').catch(() => undefined)).to.equal(undefined);
    });

    it('refuses to serve when bubblewrap runs but does not confine', async () => {
      const fake = join(folder, 'bwrap');
      await writeFile(fake, '#!/bin/sh\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n', { mode: 0o755 });
      const refused = await createSandbox({ mode: 'require', bwrapPath: fake }).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(ConfigurationError);
      expect(refused).to.have.property('message').that.includes('reach the network');
    });
  });
}
