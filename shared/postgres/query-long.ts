import type { ClientBase } from 'pg';

/** Longest statement over many rows, in ms. */
const LONG_MS_MAX = 10 * 60_000;

/** Runs a statement that may go over a whole table, inside the caller's transaction, whose time for a statement it lengthens. */
export async function queryLong(client: ClientBase, text: string, values: readonly unknown[] = []): Promise<void> {
  await client.query(`set local statement_timeout = ${LONG_MS_MAX}`);
  const query = { text, values: [...values], query_timeout: LONG_MS_MAX };
  await client.query(query);
}
