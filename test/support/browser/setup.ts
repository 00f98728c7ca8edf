/** `npm run setup:browser`: brings the browser that the tests of the reference page drive. */
import { runCommand } from '../../../services/standalone/setup/run-command.ts';
import { briefly } from '../../../services/standalone/setup/step.ts';
import { findTool } from '../../../shared/tools/find-tool.ts';
import { findBrowser } from './find-browser.ts';

/** Packages come from the mirror that the machine itself is configured with; a slow one takes minutes. */
const INSTALL_LIMIT_MS = 10 * 60_000;
const APT_OPTIONS = ['-y', '-q', '--no-install-recommends', '-o', 'Acquire::Retries=2'];

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

async function setUp(): Promise<string | undefined> {
  const known = findBrowser();
  if (known !== undefined) return known;
  const apt = findTool('apt-get');
  if (apt === undefined || process.getuid?.() !== 0) {
    complain('browser: MISSING, only root on Debian and its kin can install it from here. Install Chromium (Debian: apt-get install chromium), or set CHROMIUM_BIN.');
    return undefined;
  }
  say('browser: installing the Debian package chromium');
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await runCommand(apt, ['update', '-q'], { limitMs: INSTALL_LIMIT_MS, environment });
    await runCommand(apt, ['install', ...APT_OPTIONS, 'chromium'], { limitMs: INSTALL_LIMIT_MS, environment });
  } catch (error) {
    complain(`browser: MISSING, ${briefly(error)}`);
  }
  return findBrowser();
}

const browser = await setUp();
if (browser === undefined) process.exitCode = 1;
else say(`browser: ok, ${browser}`);
