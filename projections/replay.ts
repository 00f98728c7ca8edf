import type { NatsConnection } from '@nats-io/transport-node';
import { startReader, type RunningReader } from '../shared/consume/reader.ts';
import { Defect, TransientError } from '../shared/errors/errors.ts';
import type { StoredEvent } from '../shared/events/envelope.ts';
import { createLogger } from '../shared/log/log.ts';

/** How often progress is told, in ms. */
const PROGRESS_MS = 1_000;
/** A replay that does not move for this long fails, in ms. */
const STANDSTILL_MS_MAX = 30_000;

/** Where a replay stands: the last event it applied, or nothing yet. */
export type ReplayPlace = { readonly position: number; readonly hash: string | undefined };

/** Before the first event. */
export const LOG_START: ReplayPlace = { position: 0, hash: undefined };

/** What to replay. */
export type ReplaySpan = {
  readonly stream: string;
  readonly from: ReplayPlace;
  /** Position of the last event to apply; it must exist. */
  readonly until: number;
  readonly apply: (events: readonly StoredEvent[]) => Promise<void>;
  /** Told the position reached, about every second. */
  readonly onProgress: (position: number) => void;
};

/**
 * Applies the events after `from` up to `until` in order, none after it, and answers where it came to. While Postgres
 * works on one batch the next is read, no more. Nothing is done again here: throws what `apply` threw, `Defect` on what
 * cannot be read, `TransientError` when the log is away.
 */
export async function replay(nc: NatsConnection, span: ReplaySpan): Promise<ReplayPlace> {
  let place = span.from;
  let working: Promise<void> = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;
  const apply = async (events: readonly StoredEvent[]): Promise<void> => {
    await working;
    if (failure) throw new Defect('the replay cannot go on', { cause: failure.error });
    const due = events.filter((event) => event.position > place.position && event.position <= span.until);
    const last = due.at(-1);
    if (last === undefined) return;
    place = last;
    working = span.apply(due).catch((error: unknown) => void (failure = { error }));
  };
  const requireGoing = (reader?: RunningReader): void => {
    if (failure) throw failure.error;
    const halted = reader?.halted();
    if (halted) throw halted.cause;
  };
  if (place.position >= span.until) return place;
  const reader = startReader(nc, { stream: span.stream, position: () => place.position, apply }, createLogger('replay', 'silent'));
  try {
    await finish(reader, span, () => place.position, requireGoing);
  } finally {
    await reader.stop();
    await working;
  }
  requireGoing();
  return place;
}

async function finish(reader: RunningReader, span: ReplaySpan, position: () => number, requireGoing: (reader: RunningReader) => void): Promise<void> {
  let moved = { position: position(), atMs: performance.now() };
  while (!(await reader.waitFor(span.until, PROGRESS_MS))) {
    requireGoing(reader);
    span.onProgress(position());
    if (position() > moved.position) moved = { position: position(), atMs: performance.now() };
    else if (performance.now() - moved.atMs > STANDSTILL_MS_MAX) throw new TransientError('nats', `the replay stands still at position ${moved.position}`);
  }
}
