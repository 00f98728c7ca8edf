import { readFileSync } from 'node:fs';
import { runCommand } from '../../../services/standalone/setup/run-command.ts';
import { briefly } from '../../../services/standalone/setup/step.ts';
import { CEPH_PACKAGES, findCeph } from './programs.ts';

const HELP = `Usage: npm run setup:ceph

Brings the Ceph RADOS gateway, the S3 store against which npm run test:s3 runs: the Debian packages
${CEPH_PACKAGES.join(', ')}, from the mirror that this machine is configured with. Unlike npm run setup it installs them
system-wide, and so it has to run as root. The service itself needs none of it.

Exit code 0 when all programs are there, 1 otherwise.
`;

/** 64 MB from a mirror that may be far away. */
const INSTALL_LIMIT_MS = 15 * 60_000;

async function setUp(): Promise<number> {
  if (!('missing' in findCeph())) {
    say('ceph: already there');
    return 0;
  }
  const obstacle = findObstacle();
  if (obstacle !== undefined) {
    complain(`ceph: MISSING, ${obstacle}`);
    return 1;
  }
  try {
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    say('ceph: reading the lists of the mirror');
    await runCommand('apt-get', ['update', '-qq'], { limitMs: INSTALL_LIMIT_MS, environment });
    say(`ceph: installing ${CEPH_PACKAGES.join(', ')}`);
    await runCommand('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...CEPH_PACKAGES], { limitMs: INSTALL_LIMIT_MS, environment });
  } catch (error) {
    complain(`ceph: MISSING, the packages cannot be installed: ${briefly(error)}`);
    return 1;
  }
  const after = findCeph();
  if ('missing' in after) complain(`ceph: MISSING, the packages are installed but have no ${after.missing.join(', ')}`);
  else say('ceph: installed. Next: npm run test:s3');
  return 'missing' in after ? 1 : 0;
}

/** Why nothing can be installed here, as a sentence that says what to do; undefined when nothing stands in the way. */
function findObstacle(): string | undefined {
  const wanted = CEPH_PACKAGES.join(' ');
  if (process.platform !== 'linux' || !isDebian()) return `there are no packages for this system. Install Ceph's monitor, OSD and gateway yourself, so that the PATH has them.`;
  if (process.getuid?.() !== 0) return `installing packages needs root. Ask for: apt-get install ${wanted}`;
  return undefined;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

function isDebian(): boolean {
  try {
    return /^ID(_LIKE)?=.*debian/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}

const [argument] = process.argv.slice(2);
if (argument === '--help') process.stdout.write(HELP);
else if (argument !== undefined) {
  complain(`Unknown argument ${argument}. Try npm run setup:ceph -- --help.`);
  process.exitCode = 1;
} else process.exitCode = await setUp();
