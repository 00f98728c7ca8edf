import { spawnSync } from 'node:child_process';
import { chown, mkdtemp, readFile, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { confine, type Limits, type JobDir } from '../../../services/converter/sandbox/command.ts';
import { findHostTools } from '../../../services/converter/sandbox/host.ts';
import { startConfined, type Exit } from '../../../services/converter/sandbox/process.ts';
import { readText } from '../../../services/converter/sandbox/read-text.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { limitsTogether } from '../../../services/converter/sandbox/watch.ts';
import { findTool } from '../../../shared/tools/find-tool.ts';
import { startTrap, type Trap } from '../../support/origin.ts';
import { descendantsOf } from '../../support/process-tree.ts';

const LIMITS: Limits = { fileBytesMax: 5_000_000, cpuSecondsMax: 20, memoryBytesMax: 512 * 1024 ** 2 };
const TIME_LIMIT_MS = 60_000;
/** Enough for what the programs below say, and less than a flood. */
const OUTPUT_MAX = 100_000;

/** Tries each of its lines and says what became of it: `done`, or the name of the error. */
const TRY_ALL = `
import ctypes, errno, fcntl, json, os, resource, signal, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *arguments):
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), '')
def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(2)
        s.connect(address)
def write(folder):
    with open(folder + '/planted', 'w') as f:
        f.write('x')
outcomes = {}
for name, line in json.loads(sys.stdin.readline()).items():
    try:
        exec(line)
        outcomes[name] = 'done'
    except OSError as error:
        outcomes[name] = errno.errorcode.get(error.errno, str(error))
    except Exception as error:
        outcomes[name] = type(error).__name__
print(json.dumps(outcomes))
`;

/** A user that is neither root nor ours. */
const NOBODY = 65_534;

const NUMBERS = process.arch === 'arm64' ? { addKey: 217, bpf: 280, ioUring: 425, clone: 220 } : { addKey: 248, bpf: 321, ioUring: 425, clone: 56 };

if (findTool('bwrap') !== undefined) {
  describe('a program inside the sandbox that wants out', function () {
    this.timeout(120_000);
    let sandbox: Sandbox;
    let job: JobDir;
    let other: JobDir;
    let trap: Trap;

    before(async () => {
      sandbox = await createSandbox({ mode: 'require' });
      [job, other] = [await sandbox.openJob(), await sandbox.openJob()];
      await writeFile(join(other.path, 'source'), 'somebody else’s');
      trap = await startTrap('127.0.0.1');
    });
    after(async () => {
      await trap.stop();
      await Promise.all([job, other].map((each) => sandbox.closeJob(each)));
    });

    async function run(code: string, input = '', limits: Partial<Limits> = {}, timeLimitMs = TIME_LIMIT_MS): Promise<{ readonly output: string; readonly exit: Exit }> {
      const child = sandbox.spawn({ program: { command: '/usr/bin/python3', args: ['-c', code], readable: [] }, job, limits: { ...LIMITS, ...limits }, timeLimitMs });
      child.stdin.end(`${input}\n`);
      const [output, exit] = await Promise.all([readText(child.stdout, OUTPUT_MAX), child.done]);
      return { output, exit };
    }

    async function emptyFolder(): Promise<void> {
      for (const name of await readdir(job.path)) await rm(join(job.path, name), { recursive: true, force: true });
    }

    /** What became of each line of Python. */
    async function attempt(lines: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
      const { output, exit } = await run(TRY_ALL, JSON.stringify(lines));
      expect(exit.code, exit.stderrTail).to.equal(0);
      return z.record(z.string(), z.string()).parse(JSON.parse(output));
    }

    async function expectRefused(lines: Readonly<Record<string, string>>): Promise<void> {
      for (const [name, outcome] of Object.entries(await attempt(lines))) expect(outcome, name).not.to.equal('done');
    }

    it('reaches no address, neither ours nor others', async () => {
      await expectRefused({
        'a listener of ours': `connect(socket.AF_INET, ('127.0.0.1', ${trap.port}))`,
        'the same by IPv6': `connect(socket.AF_INET6, ('::1', ${trap.port}))`,
        'an address outside': "connect(socket.AF_INET, ('192.0.2.1', 80))",
        'where clouds keep secrets': "connect(socket.AF_INET, ('169.254.169.254', 80))",
        'the host of a virtual machine': 'socket.socket(40, socket.SOCK_STREAM)',
        'packets': 'socket.socket(socket.AF_PACKET, socket.SOCK_RAW)',
        'the abstract sockets of a desktop': "connect(socket.AF_UNIX, b'\\0/tmp/.X11-unix/X0')",
      });
      expect(trap.hits()).to.equal(0);
    });

    it('reads nothing of the host, of us, or of other jobs', async () => {
      await expectRefused({
        'users': "open('/etc/passwd').read()",
        'the project': `os.listdir(${JSON.stringify(process.cwd())})`,
        'homes': "os.listdir('/root')",
        'another job': `open(${JSON.stringify(join(other.path, 'source'))}).read()`,
        'our environment': "open('/proc/1/environ').read()",
        'our files': "os.listdir('/proc/1/root')",
        'our memory': "open('/proc/1/mem', 'rb').read(1)",
        'the memory of the kernel': "open('/proc/kcore', 'rb').read(16)",
        'its messages': "open('/dev/kmsg').read(16)",
        'another process': "os.stat('/proc/3000')",
      });
      expect(await attempt({ 'its own folder': "open('/job/mine', 'w').write('x')", 'its own temporary files': "write('/tmp')" })).to.deep.equal({ 'its own folder': 'done', 'its own temporary files': 'done' });
    });

    it('writes nowhere but into its folder, whose files can be no devices and no roots', async () => {
      const folders = ['/', '/usr', '/usr/local', '/etc', '/dev', '/dev/shm', '/proc', '/var', '/lib', '/bin'];
      await expectRefused(Object.fromEntries(folders.map((folder) => [folder, `write(${JSON.stringify(folder)})`])));
      await expectRefused({
        'a disk': "os.mknod('/job/disk', 0o60666, os.makedev(8, 0))",
        'a program of the system': "os.link('/usr/bin/env', '/job/env')",
        'a file of root': "write('/job') or os.chown('/job/planted', 0, 0)",
      });
      expect((await stat(join(job.path, 'planted'))).uid).to.equal(job.uid ?? process.getuid?.());
    });

    it('gets no rights, no namespaces of its own, and none of the calls that kernels are broken by', async () => {
      await expectRefused({
        'become root': 'os.setuid(0)',
        'root by a program that gives it': "subprocess.run(['/usr/bin/su', '-c', 'true'], check=True, capture_output=True, timeout=10)",
        'a namespace of users': 'call(libc.unshare, 0x10000000)',
        'a namespace of networks': 'call(libc.unshare, 0x40000000)',
        'the same by clone': `call(libc.syscall, ${NUMBERS.clone}, 0x10000011, 0, 0, 0, 0)`,
        'a mount': "call(libc.mount, b'none', b'/tmp', b'tmpfs', 0, None)",
        'another root': "os.chroot('/job')",
        'debug its parent': 'call(libc.ptrace, 16, 1, 0, 0)',
        'a key': `call(libc.syscall, ${NUMBERS.addKey}, b'user', b'name', b'x', 1, -4)`,
        'a program in the kernel': `call(libc.syscall, ${NUMBERS.bpf}, 0, 0, 0)`,
        'memory without an owner': "os.memfd_create('x')",
        'a segment that outlives its process': 'call(libc.shmget, 0, 1 << 20, 0o1600)',
        'io_uring': `call(libc.syscall, ${NUMBERS.ioUring}, 8, ctypes.create_string_buffer(200))`,
        'a host name': "socket.sethostname('mine')",
        'type on our terminal': "fcntl.ioctl(0, 0x5412, b'x')",
        'a higher limit': 'resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))',
        'go first': 'os.nice(-5)',
      });
    });

    it('kills nobody but itself', async () => {
      await expectRefused({ 'its parent': 'os.kill(1, signal.SIGKILL)', 'the group of its parent': 'os.killpg(os.getppid(), signal.SIGKILL)', [`us, ${process.pid}`]: `os.kill(${process.pid}, signal.SIGKILL)` });
    });

    it('cannot fill memory, temporary files, output or the table of processes', async () => {
      const memory = await run('kept = []\nwhile True: kept.append(bytearray(10_000_000))');
      expect(memory.exit.code).not.to.equal(0);
      const temporary = await run("import os\nfor n in range(200):\n    with open(f'/tmp/{n}', 'wb') as f: f.write(bytes(4_000_000))");
      expect(temporary.exit.stderrTail).to.include('No space left');
      const flood = await run("import sys\nfor n in range(2000): sys.stdout.write('x' * 100_000)");
      expect(flood.exit.code).to.equal(0);
      expect(flood.output).to.have.length(OUTPUT_MAX);
      const forks = await run('import os, time\nfor n in range(5000):\n    if os.fork() == 0: time.sleep(30); os._exit(0)\ntime.sleep(30)', '', {}, 3_000);
      expect(forks.exit.cause === 'timeout' || forks.exit.code !== 0).to.equal(true);
      expect(descendantsOf(process.pid).filter(({ command }) => command.includes('os.fork')), 'left behind').to.deep.equal([]);
    });

    it('cannot take more memory by sharing it or by being many, than by itself', async () => {
      const shared = await run('import mmap\nm = mmap.mmap(-1, 1 << 32, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)\nfor n in range(0, 1 << 32, 1 << 20): m[n:n + (1 << 20)] = bytes(1 << 20)');
      expect(shared.exit.cause).to.equal('over_memory');
      const many = await run("import os, time\nfor n in range(6):\n    if os.fork() == 0: kept = b'x' * 200_000_000; time.sleep(30); os._exit(0)\ntime.sleep(30)");
      expect(many.exit.cause).to.equal('over_memory');
      expect(descendantsOf(process.pid).filter(({ command }) => command.includes('200_000_000')), 'left behind').to.deep.equal([]);
      const honest = await run("import mmap, os, time\nm = mmap.mmap(-1, 1 << 28)\nm[:] = bytes(1 << 28)\nif os.fork() == 0: time.sleep(3); os._exit(0)\nos.wait()");
      expect(honest.exit).to.include({ cause: 'exited', code: 0 });
    });

    it('cannot fill the disk, neither by many files nor by many names, and what it left is removed', async () => {
      for (const code of ["import time\nfor n in range(40):\n    with open(f'big{n}', 'wb') as f: f.write(bytes(900_000))\ntime.sleep(30)", "import time\nfor n in range(10_500): open(f'n{n}', 'w').close()\ntime.sleep(30)", "import os, time\nos.mkdir('closed')\nfor n in range(40):\n    with open(f'closed/{n}', 'wb') as f: f.write(bytes(900_000))\nos.chmod('closed', 0)\ntime.sleep(30)"]) {
        expect((await run(code, '', { fileBytesMax: 1_000_000 })).exit.cause, code).to.equal('over_folder');
        await emptyFolder();
      }
      const honest = await run("import time\nfor n in range(3):\n    with open(f'part{n}', 'wb') as f: f.write(bytes(900_000))\ntime.sleep(2.5)", '', { fileBytesMax: 1_000_000 });
      expect(honest.exit).to.include({ cause: 'exited', code: 0 });
    });

    it('cannot fill the disk by files without a name, which end with their process', async () => {
      const { bavail, bsize } = await statfs(job.path);
      const hide = "import os, time\nkept = []\nfor n in range(40):\n    f = open('hidden', 'wb'); os.unlink('hidden'); f.write(bytes(5_000_000)); f.flush(); kept.append(f)\ntime.sleep(30)";
      const line = { command: '/usr/bin/python3', args: ['-c', hide] };
      const together = { memoryBytesMax: Infinity, folderBytesMax: 1_000_000, freeBytesMin: bavail * bsize - 50_000_000 };
      const { done } = startConfined(line, { cwd: job.path, env: {}, timeLimitMs: TIME_LIMIT_MS, together });
      expect((await done).cause).to.equal('disk_short');
      const scarce = startConfined({ command: '/bin/sleep', args: ['2.5'] }, { cwd: job.path, env: {}, timeLimitMs: TIME_LIMIT_MS, together: { ...together, freeBytesMin: 2 ** 60 } });
      expect(await scarce.done, 'where it was scarce before').to.include({ cause: 'exited', code: 0 });
    });

    it('leaves nothing that runs on, however it tries to get away', async () => {
      const away = 'import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(60)\n    os._exit(0)';
      expect((await run(away)).exit.cause).to.equal('exited');
      expect(descendantsOf(process.pid).filter(({ command }) => command.includes('os.setsid'))).to.deep.equal([]);
      expect(await readFile(join(other.path, 'source'), 'utf8')).to.equal('somebody else’s');
    });
  });
}

const { bwrap, prlimit, setpriv } = findHostTools();

/** Whether users who are not root may make sandboxes here. */
function mayUsersConfine(): boolean {
  if (bwrap === undefined || setpriv === undefined) return false;
  return spawnSync(setpriv, [...AS_NOBODY, bwrap, '--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0;
}

const AS_NOBODY = process.getuid?.() === 0 ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : ['--no-new-privs'];

if (bwrap !== undefined && prlimit !== undefined && setpriv !== undefined && mayUsersConfine()) {
  describe('a program inside a sandbox that was not made by root', function () {
    this.timeout(60_000);
    let path: string;
    before(async () => {
      path = await mkdtemp(join(tmpdir(), 'sandbox-of-user-'));
      if (process.getuid?.() === 0) await chown(path, NOBODY, NOBODY);
    });
    after(() => rm(path, { recursive: true, force: true }));

    async function attempt(lines: Readonly<Record<string, string>>): Promise<unknown> {
      const program = { command: '/usr/bin/python3', args: ['-c', TRY_ALL], readable: [] };
      const { command, args, filter } = confine({ level: 'bubblewrap', bwrap: bwrap ?? '', prlimit: prlimit ?? '', setpriv }, program, { path, uid: undefined }, LIMITS);
      const line = { command: setpriv ?? '', args: [...AS_NOBODY, command, ...args], ...(filter === undefined ? {} : { filter }) };
      const child = startConfined(line, { cwd: path, env: {}, timeLimitMs: TIME_LIMIT_MS, together: limitsTogether(LIMITS) });
      child.stdin.end(`${JSON.stringify(lines)}\n`);
      const [output, exit] = await Promise.all([readText(child.stdout, OUTPUT_MAX), child.done]);
      expect(exit.code, exit.stderrTail).to.equal(0);
      return JSON.parse(output);
    }

    it('fills no memory through folders that belong to its user, but writes into its own', async () => {
      const folders = ['/', '/etc', '/var', '/dev', '/dev/shm', '/usr', '/proc'];
      const outcomes = await attempt(Object.fromEntries([...folders, '/job', '/tmp'].map((folder) => [folder, `write(${JSON.stringify(folder)})`])));
      expect(outcomes).to.deep.equal({ ...Object.fromEntries(folders.map((folder) => [folder, 'EROFS'])), '/proc': 'ENOENT', '/job': 'done', '/tmp': 'done' });
    });

    it('starts no more processes than one that root made', async () => {
      const fork = 'for n in range(300):\n    if os.fork() == 0: signal.pause()';
      expect(await attempt({ 'three hundred': fork, 'a few': 'True' })).to.deep.equal({ 'three hundred': 'EAGAIN', 'a few': 'done' });
    });
  });
}
