import type { ClientBase, Pool } from 'pg';
import { z } from 'zod';
import { Defect, TransientError } from '../shared/errors/errors.ts';
import { toTransient } from '../shared/postgres/transient.ts';
import { PROJECTION_NAMES, type ProjectionName } from './projection.ts';

/** Why a projection stands still: it met what it cannot apply, or the log is not the one it has read (D96). */
export type HaltReason = 'defect' | 'log_behind';

/** How far a read model is. */
export type ProjectionPosition = {
  readonly name: ProjectionName;
  readonly stream: string;
  /** Position of the last event in it; 0 before the first. */
  readonly position: number;
  /** SHA-256 of the stored bytes of that event. */
  readonly eventHash: string | undefined;
  /** When the stream that was read last was created. */
  readonly streamCreated: string | undefined;
  readonly halted: HaltReason | undefined;
};

const rowSchema = z.object({
  name: z.enum(PROJECTION_NAMES),
  stream: z.string(),
  position: z.coerce.number(),
  event_hash: z.string().nullable(),
  stream_created: z.string().nullable(),
  halted: z.enum(['defect', 'log_behind']).nullable(),
});

/** Positions of all read models. Throws `TransientError` when Postgres is away. */
export async function readPositions(database: Pool | ClientBase): Promise<readonly ProjectionPosition[]> {
  try {
    const { rows } = await database.query<Record<string, unknown>>('select * from projection_positions order by name');
    return rows.map(toPosition);
  } catch (error) {
    throw toTransient(error);
  }
}

/** Position of one read model; with `lock`, no other transaction moves it before this one ends. Throws what pg throws. */
export async function readPosition(database: Pool | ClientBase, name: ProjectionName, lock: 'lock' | 'look' = 'look'): Promise<ProjectionPosition> {
  const { rows } = await database.query<Record<string, unknown>>(`select * from projection_positions where name = $1 ${lock === 'lock' ? 'for update' : ''}`, [name]);
  const [row] = rows;
  if (!row) throw new Defect(`the read model ${name} has no position`);
  return toPosition(row);
}

/** Moves a position on inside the caller's transaction. Throws `TransientError` when somebody else moved it. */
export async function movePosition(client: ClientBase, name: ProjectionName, from: number, to: { readonly position: number; readonly hash: string | undefined }): Promise<void> {
  const { rowCount } = await client.query(
    'update projection_positions set position = $3, event_hash = $4, updated_at = now() where name = $1 and position = $2',
    [name, from, to.position, to.hash],
  );
  if (rowCount !== 1) throw new TransientError('read_model', 'another process moved the position of the read model');
}

/** Says, for everybody who asks for health, that a projection halted, or that it goes on; throws what pg throws. */
export async function markHalted(client: ClientBase, name: ProjectionName, reason: HaltReason | undefined, streamCreated?: string): Promise<void> {
  await client.query(
    `update projection_positions set halted = $2, stream_created = coalesce($3, stream_created), updated_at = now()
     where name = $1 and (halted is distinct from $2 or stream_created is distinct from coalesce($3, stream_created))`,
    [name, reason ?? null, streamCreated ?? null],
  );
}

function toPosition(row: Record<string, unknown>): ProjectionPosition {
  const { name, stream, position, event_hash, stream_created, halted } = rowSchema.parse(row);
  return { name, stream, position, eventHash: event_hash ?? undefined, streamCreated: stream_created ?? undefined, halted: halted ?? undefined };
}
