/** `npm run setup:browser`: brings the browser that the tests of the reference page drive. */
import { installPackages } from '../../../services/standalone/setup/apt.ts';
import { inspectMachine } from '../../../services/standalone/setup/machine.ts';
import { briefly } from '../../../services/standalone/setup/step.ts';
import { findBrowser } from './find-browser.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

async function setUp(): Promise<string | undefined> {
  const known = findBrowser();
  if (known !== undefined) return known;
  const { isDebianKin, isRoot } = await inspectMachine();
  if (!isDebianKin || !isRoot) {
    complain('browser: MISSING, only root on Debian and its kin can install it from here. Install Chromium (Debian: apt-get install chromium), or set CHROMIUM_BIN.');
    return undefined;
  }
  try {
    await installPackages(['chromium'], (line) => say(`browser: ${line}`));
  } catch (error) {
    complain(`browser: MISSING, ${briefly(error)}`);
  }
  return findBrowser();
}

const browser = await setUp();
if (browser === undefined) process.exitCode = 1;
else say(`browser: ok, ${browser}`);
