import type { ClientBase } from 'pg';
import { Defect, TransientError } from '../shared/errors/errors.ts';
import type { StoredEvent } from '../shared/events/envelope.ts';
import { inTransaction } from '../shared/postgres/transaction.ts';
import { toTransient } from '../shared/postgres/transient.ts';
import type { LogCheck } from './log-check.ts';
import { movePosition, readPosition } from './positions.ts';
import type { Projection } from './projection.ts';

/** The log is not the one that the read model was made of (D96). An operator decides: put the log back, or rebuild. */
export class LogBehindError extends Defect {
  constructor(projection: Projection, position: number) {
    super(`the event at position ${position} of ${projection.stream} is not the one that ${projection.name} has read: an older log was put in place`);
  }
}

/**
 * Applies events and moves the position, in one transaction; events that were applied before are passed over. Answers
 * the new position. Throws `LogBehindError`, `Defect`, and `TransientError` when it should be called again later.
 */
export async function advance(client: ClientBase, projection: Projection, events: readonly StoredEvent[], log: LogCheck): Promise<number> {
  try {
    return await inTransaction(client, async () => {
      const before = await readPosition(client, projection.name, 'lock');
      const unseen = events.filter((event) => event.position > before.position);
      const [first, last] = [unseen[0], unseen.at(-1)];
      if (first === undefined || last === undefined) return before.position;
      const continues = before.position === 0 || first.position === before.position + 1 || (await log.hasAgedOut(projection.stream, first.position - 1));
      if (!continues) throw new TransientError('read_model', 'the read model was set back by somebody else');
      // What comes next continues this read model only if the event before it is the one that was read.
      if (!(await log.stillHolds(before))) throw new LogBehindError(projection, before.position);
      await projection.apply(client, projection.table, unseen);
      await movePosition(client, projection.name, before.position, last);
      return last.position;
    });
  } catch (error) {
    throw toTransient(error);
  }
}
