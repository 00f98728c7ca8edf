import { bringBubblewrap } from './bubblewrap-step.ts';
import { readSetupConfig } from './config.ts';
import { bringEngines } from './engines/engines-step.ts';
import { bringNatsServer } from './nats-server-step.ts';
import { buildProject, buildSqlite, npmRunner } from './node-steps.ts';
import type { Say, StepResult } from './step.ts';

const HELP = `Usage: npm run setup [-- --fonts]

Brings what npm cannot bring. A second run finds everything in place and changes nothing.

  nats-server      keeps the log of events: NATS_SERVER_BIN, the PATH, .tools/, else the official release, else a
                   newer Debian suite of this machine's own mirror
  engines          what conversions are made with: ffmpeg, poppler, qpdf, LibreOffice and fonts. As root on Debian and
                   its kin their packages are installed (about 300 MB), the only thing that is installed
                   system-wide; else the commands that do it are printed and set-up goes on
  bubblewrap       the sandbox around conversions: the PATH, .tools/, else this machine's Debian suite
  better-sqlite3   is built when it cannot be loaded
  dist/            the compiled sources

  --fonts          also brings the Noto fonts (150 MB), for documents in the other scripts of the world

Exit code 0 when everything needed is there, 1 otherwise.
`;

const MARKS: Readonly<Record<StepResult['outcome'], string>> = { ready: 'ok', degraded: 'note', missing: 'MISSING' };

/** One thing that set-up sees to. */
interface Step {
  readonly name: string;
  readonly run: (say: Say) => Promise<StepResult>;
}

async function setUp(withFonts: boolean): Promise<number> {
  const config = readSetupConfig(process.env);
  const npm = npmRunner(config.npmScript, process.env);
  const steps: readonly Step[] = [
    { name: 'nats-server', run: (say) => bringNatsServer(config.natsServerBin, say) },
    { name: 'engines', run: (say) => bringEngines(withFonts, say) },
    { name: 'bubblewrap', run: bringBubblewrap },
    { name: 'better-sqlite3', run: (say) => buildSqlite(npm, say) },
    { name: 'dist', run: () => buildProject(npm) },
  ];
  const missing: string[] = [];
  for (const step of steps) {
    const { outcome, sentence } = await step.run((line) => console.log(`${step.name}: ${line}`));
    console.log(`${step.name}: ${MARKS[outcome]}, ${sentence}`);
    if (outcome === 'missing') missing.push(step.name);
  }
  if (missing.length === 0) {
    console.log('Everything needed is there. Next: npm start');
    return 0;
  }
  console.error(`Set-up is not complete: ${missing.join(', ')}. See the lines marked MISSING above.`);
  return 1;
}

const [argument] = process.argv.slice(2);
if (argument === '--help') process.stdout.write(HELP);
else if (argument !== undefined && argument !== '--fonts') {
  console.error(`Unknown argument ${argument}. Try npm run setup -- --help.`);
  process.exitCode = 1;
} else process.exitCode = await setUp(argument === '--fonts');
