import type { ClientBase } from 'pg';

/** Rows that are fetched at once; bounds memory. */
const FETCH_MAX = 2_000;
/** Longest fetch, in ms: the first one may have to sort the whole table. */
const FETCH_MS_MAX = 10 * 60_000;

/** A row as a comparison sees it: its key and the SHA-256 of all its columns. */
export type RowHash = { readonly key: string; readonly hash: string };

/** Walks over all rows of a table in the order of their keys, inside the caller's transaction. */
export async function* walkRows(client: ClientBase, table: string, keyColumn: string): AsyncGenerator<RowHash> {
  const cursor = `walk_${table.replaceAll('.', '_')}`;
  await client.query(`set local statement_timeout = ${FETCH_MS_MAX}`);
  await client.query(`declare ${cursor} no scroll cursor for
    select ${keyColumn}::text as key, encode(sha256(convert_to(walked::text, 'UTF8')), 'hex') as hash from ${table} as walked order by ${keyColumn}`);
  const fetch = { text: `fetch ${FETCH_MAX} from ${cursor}`, query_timeout: FETCH_MS_MAX };
  for (;;) {
    const { rows } = await client.query<RowHash>(fetch);
    yield* rows;
    if (rows.length < FETCH_MAX) break;
  }
  await client.query(`close ${cursor}`);
}

/** Walks over two sorted tables side by side: every key with the hashes that either table has for it. */
export async function* zipRows(left: AsyncIterator<RowHash>, right: AsyncIterator<RowHash>): AsyncGenerator<{ readonly key: string; readonly left?: string; readonly right?: string }> {
  let [a, b] = [await left.next(), await right.next()];
  while (a.done !== true || b.done !== true) {
    if (b.done === true || (a.done !== true && a.value.key < b.value.key)) {
      if (a.done === true) return;
      yield { key: a.value.key, left: a.value.hash };
      a = await left.next();
    } else if (a.done === true || b.value.key < a.value.key) {
      yield { key: b.value.key, right: b.value.hash };
      b = await right.next();
    } else {
      yield { key: a.value.key, left: a.value.hash, right: b.value.hash };
      [a, b] = [await left.next(), await right.next()];
    }
  }
}
