import { installPackages } from '../../../services/standalone/setup/apt.ts';
import { inspectMachine } from '../../../services/standalone/setup/machine.ts';
import { briefly } from '../../../services/standalone/setup/step.ts';
import { CEPH_PACKAGES, findCeph } from './programs.ts';

const HELP = `Usage: npm run setup:ceph

Brings the Ceph RADOS gateway, the S3 store against which npm run test:s3 runs: the Debian packages
${CEPH_PACKAGES.join(', ')}, from the mirror that this machine is configured with. They are installed system-wide, so it has to
run as root. The service itself needs none of it.

Exit code 0 when all programs are there, 1 otherwise.
`;

async function setUp(): Promise<number> {
  if (!('missing' in findCeph())) {
    say('ceph: already there');
    return 0;
  }
  const obstacle = await findObstacle();
  if (obstacle !== undefined) {
    complain(`ceph: MISSING, ${obstacle}`);
    return 1;
  }
  try {
    await installPackages(CEPH_PACKAGES, (line) => say(`ceph: ${line}`));
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
async function findObstacle(): Promise<string | undefined> {
  const { isDebianKin, isRoot } = await inspectMachine();
  if (!isDebianKin) return `there are no packages for this system. Install Ceph's monitor, OSD and gateway yourself, so that the PATH has them.`;
  if (!isRoot) return `installing packages needs root. Ask for: apt-get install ${CEPH_PACKAGES.join(' ')}`;
  return undefined;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

const [argument] = process.argv.slice(2);
if (argument === '--help') process.stdout.write(HELP);
else if (argument !== undefined) {
  complain(`Unknown argument ${argument}. Try npm run setup:ceph -- --help.`);
  process.exitCode = 1;
} else process.exitCode = await setUp();
