import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../shared/clock/clock.ts';
import { TransientError } from '../../shared/errors/errors.ts';
import type { Cleanup } from '../../shared/lifecycle/run-service.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { AppendWatch } from '../../shared/store/append-watch.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { Admission } from './admission.ts';
import { Books } from './books.ts';
import { CreditsCopy } from './credits-copy.ts';
import { lookAtOpenHolds, startReleasingOrphans } from './orphans.ts';
import { answerLedgerRequests } from './requests.ts';
import { startSettling } from './settle.ts';

/** How long filling an empty copy may take at the start, in ms; a million events take well under a minute. */
const FIRST_CATCH_UP_MS_MAX = 10 * 60_000;

/** How long the question whether a ledger is ready waits for its copy, in ms; less than whoever asks waits. */
const READY_CATCH_UP_MS_MAX = 500;

/** What a ledger needs; `copyFolder` is where its disposable copy lies, in memory without one. */
export type LedgerParts = {
  readonly nc: NatsConnection;
  readonly store: EventStore;
  /** Says whether the log takes what the store appends. */
  readonly appendWatch: Pick<AppendWatch, 'isTaking'>;
  readonly clock: Clock;
  readonly holdReleaseMs: number;
  /** After this time in ms a job whose file was not uploaded stops counting as active (D41). */
  readonly uploadGraceMs: number;
  readonly copyFolder?: string;
};

/**
 * Starts a ledger: it holds credits on request and settles jobs that end. Answers nothing before its copy has caught
 * up. Any number may run at once. Registers what it starts with `cleanup`; throws `TransientError`.
 */
export async function startLedger(parts: LedgerParts, cleanup: Cleanup, logger: Logger): Promise<void> {
  const { nc, store, clock, holdReleaseMs, uploadGraceMs } = parts;
  const copy = await CreditsCopy.open(nc, logger, parts.copyFolder);
  cleanup.add('copy of the credits', () => copy.stop());
  await copy.catchUp(FIRST_CATCH_UP_MS_MAX);
  if (copy.reader.halted()) throw new TransientError('ledger', 'the copy of the credits stands still');
  const books = new Books(copy, store, clock);
  const settling = await startSettling(nc, books, logger);
  cleanup.add('settling', () => settling.stop());
  const orphans = await startReleasingOrphans({ nc, store, books, clock }, logger);
  cleanup.add('orphaned holds', () => orphans.stop());
  await lookAtOpenHolds({ nc, store, books, clock }, holdReleaseMs);
  const admission = new Admission({ nc, store, books, clock, holdReleaseMs, uploadGraceMs });
  const answering = answerLedgerRequests({ nc, admission, isReady: async () => parts.appendWatch.isTaking() && (await followsLog(copy)) }, logger);
  cleanup.add('requests', () => answering.stop());
  // Ready means that the server knows of the subscriptions.
  await nc.flush();
  logger.info({ position: copy.reader.position() }, 'ledger follows the log');
}

/** Ready is who could decide now: after a restart of the server the copy is behind for a moment. */
async function followsLog(copy: CreditsCopy): Promise<boolean> {
  if (copy.reader.halted()) return false;
  return copy.catchUp(READY_CATCH_UP_MS_MAX).then(() => true, () => false);
}
