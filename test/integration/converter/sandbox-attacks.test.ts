import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import type { Limits, JobDir } from '../../../services/converter/sandbox/command.ts';
import type { Exit } from '../../../services/converter/sandbox/process.ts';
import { readText } from '../../../services/converter/sandbox/read-text.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
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

    it('leaves nothing that runs on, however it tries to get away', async () => {
      const away = 'import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(60)\n    os._exit(0)';
      expect((await run(away)).exit.cause).to.equal('exited');
      expect(descendantsOf(process.pid).filter(({ command }) => command.includes('os.setsid'))).to.deep.equal([]);
      expect(await readFile(join(other.path, 'source'), 'utf8')).to.equal('somebody else’s');
    });
  });
}
