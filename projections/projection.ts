import type { ClientBase } from 'pg';
import type { StoredEvent } from '../shared/events/envelope.ts';
import { accountsProjection } from './accounts/projection.ts';
import { creditsProjection } from './credits/projection.ts';
import { deliveriesProjection } from './deliveries/projection.ts';
import { jobsProjection } from './jobs/projection.ts';

/** A read model: which stream it folds, and how its table follows. */
export type Projection = {
  readonly name: ProjectionName;
  readonly stream: string;
  /** The table behind the view of the projection's name. */
  readonly table: string;
  /** Column that names a row. */
  readonly key: string;
  /** A second table, that `apply` writes along with the first and that takes its place together with it. */
  readonly companion?: Companion;
  /**
   * Applies events in order to `table` (this projection's, or one of the same shape) and to its companion, inside the
   * caller's transaction.
   * An event that a row has seen before changes nothing. Throws `Defect` on what does not follow.
   */
  readonly apply: (client: ClientBase, table: string, events: readonly StoredEvent[]) => Promise<void>;
  /**
   * Makes of `table`, into which the log was replayed, what the live table is for reasons that are not in the stream: what
   * another read model has removed from it, and what events have left there that aged out since. Inside the caller's
   * transaction.
   */
  readonly settle?: (client: ClientBase, tables: Settling) => Promise<void>;
};

/** A table into which the log was replayed, the live one, and the first position that the stream has left; both with their schema. */
export type Settling = { readonly table: string; readonly live: string; readonly firstPosition: number };

/** A table that goes along with that of a projection. */
export type Companion = {
  /** Its name beside the table, or a copy of it, of that name; with the same schema. */
  readonly tableFor: (table: string) => string;
  /** The view in front of the live one. */
  readonly view: string;
  /** Columns that name a row. */
  readonly key: readonly string[];
};

/** Names of the read models. */
export const PROJECTION_NAMES = ['jobs', 'credits', 'deliveries', 'accounts'] as const;
export type ProjectionName = (typeof PROJECTION_NAMES)[number];

/** Every read model there is. */
export const PROJECTIONS: Readonly<Record<ProjectionName, Projection>> = {
  jobs: jobsProjection,
  credits: creditsProjection,
  deliveries: deliveriesProjection,
  accounts: accountsProjection,
};

/** Core NATS subject on which a projection tells each position that it has committed. */
export function projectedSubject(name: ProjectionName | '*'): string {
  return `projected.${name}`;
}
