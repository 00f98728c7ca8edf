import { aggregateStream } from './aggregate-stream.ts';

/** Grants, holds, charges and releases; the ledger appends all but the operator's grants. */
export const credits = aggregateStream('credits', 'ledger', 'Grants, holds, charges and releases of every organization');
