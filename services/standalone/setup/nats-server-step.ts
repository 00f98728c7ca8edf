import { describeRefusal, inspectNatsServer, NATS_SERVER_FLOOR, searchNatsServer } from '../nats-version.ts';
import { fetchFromDebian } from './debian-package.ts';
import { downloadNatsRelease } from './nats-release.ts';
import type { Attempt, Say, StepResult } from './step.ts';

/** Debian suites that may hold a new enough server, the most settled first; each is tried only where it exists. */
const SUITES = ['trixie-backports', 'forky', 'sid'];

/** A way to bring a nats-server into `.tools/`. */
interface Way {
  readonly name: string;
  readonly take: () => Promise<Attempt<string>>;
}

const WAYS: readonly Way[] = [
  { name: 'the official release', take: downloadNatsRelease },
  ...SUITES.map((suite) => ({
    name: `the Debian package of ${suite}`,
    take: () => fetchFromDebian({ name: 'nats-server', suite, program: 'usr/sbin/nats-server', tool: 'nats-server' }),
  })),
];

/** Makes sure that there is a nats-server, which keeps the log of events, in a version that holds all we rely on. */
export async function bringNatsServer(configured: string | undefined, say: Say): Promise<StepResult> {
  const { use, refused } = await searchNatsServer(configured);
  if (use !== undefined) return { outcome: 'ready', sentence: `already there: ${use.path} (${use.version})` };
  for (const found of refused) say(describeRefusal(found));
  if (configured !== undefined) {
    return { outcome: 'missing', sentence: `NATS_SERVER_BIN is set to ${configured}, which cannot be used. Point it to a nats-server of version ${NATS_SERVER_FLOOR} or later, or unset it.` };
  }
  for (const way of WAYS) {
    say(`trying ${way.name}`);
    const attempt = await way.take();
    if ('reason' in attempt) {
      say(`${way.name}: ${attempt.reason}`);
      continue;
    }
    const brought = await inspectNatsServer(attempt.value);
    if (brought.isNewEnough) return { outcome: 'ready', sentence: `brought ${brought.version} from ${way.name} to ${brought.path}` };
    say(describeRefusal(brought));
  }
  return { outcome: 'missing', sentence: `Install nats-server ${NATS_SERVER_FLOOR} or later yourself and set NATS_SERVER_BIN to its path, or use a server elsewhere through NATS_URL.` };
}
