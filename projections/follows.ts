import { Defect } from '../shared/errors/errors.ts';
import type { StoredEvent } from '../shared/events/envelope.ts';

/** Where a row of a read model stands. */
export type RowPosition = { readonly version: number; readonly lastPosition: number };

/**
 * True when the event is the next one of this row, false when the row has seen it. Throws `Defect` when an event in
 * between is missing: what follows a deleted row, too, has no row to follow.
 */
export function follows(row: RowPosition | undefined, event: StoredEvent): boolean {
  if (row !== undefined && event.position <= row.lastPosition) return false;
  if (event.version !== (row?.version ?? 0) + 1) {
    throw new Defect(`event at position ${event.position} is version ${event.version} of its aggregate, after version ${row?.version ?? 0}`);
  }
  return true;
}
