import type { ClientBase } from 'pg';

/** Runs `work` in one transaction on this connection: all of it happened, or nothing. Throws what the work threw. */
export async function inTransaction<Result>(client: ClientBase, work: () => Promise<Result>, isolation: 'read committed' | 'repeatable read' = 'read committed'): Promise<Result> {
  await client.query(`begin isolation level ${isolation}`);
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // The connection may be what failed; then Postgres rolls back by itself, and the first error is the one to tell.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
