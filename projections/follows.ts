import type { StoredEvent } from '../shared/events/envelope.ts';
import { requireNext, type ChainHead } from '../shared/store/stored-message.ts';

/** Where a row of a read model stands. */
export type RowPosition = ChainHead & { readonly lastPosition: number };

/**
 * True when the event is the next one of this row, false when the row has seen it. Throws `Defect` when an event in
 * between is missing or the event was forged: what follows a deleted row, too, has no row to follow.
 */
export function follows(row: RowPosition | undefined, event: StoredEvent): boolean {
  if (row !== undefined && event.position <= row.lastPosition) return false;
  requireNext(event, row);
  return true;
}
