import type { ClientBase } from 'pg';
import type { Projection } from './projection.ts';

/** A table of the same name and shape in a schema of its own, with its companion, filled while the live one is in use. */
export type Shadow = {
  /** Its name with the schema. */
  readonly table: string;
  /** Makes the indexes, under the names that the live ones have; after filling, which is faster. */
  readonly addIndexes: () => Promise<void>;
  /** Puts it in the place of the live table, inside the caller's transaction. */
  readonly swapIn: () => Promise<void>;
  /** Removes what is left of it. */
  readonly drop: () => Promise<void>;
};

/** Makes the empty shadow of a projection's table; what an interrupted rebuild left behind is thrown away. */
export async function createShadow(client: ClientBase, projection: Projection): Promise<Shadow> {
  const { name, table, companion } = projection;
  const schema = `rebuild_${name}`;
  const pairs = [{ live: table, view: name as string }, ...(companion ? [{ live: companion.tableFor(table), view: companion.view }] : [])].map((pair) => ({ ...pair, shadow: `${schema}.${pair.live}` }));
  const drop = async (): Promise<void> => void (await client.query(`drop schema if exists ${schema} cascade`));
  await drop();
  await client.query(`create schema ${schema}`);
  for (const { live, shadow } of pairs) {
    await client.query(`create table ${shadow} (like public.${live} including all excluding indexes)`);
    for (const { conname, definition } of await readKeys(client, live)) await client.query(`alter table ${shadow} add constraint ${conname} ${definition}`);
  }
  return {
    table: `${schema}.${table}`,
    drop,
    async addIndexes() {
      for (const { live, shadow } of pairs) {
        for (const definition of await readIndexes(client, live)) await client.query(definition.replace(` ON public.${live} `, ` ON ${shadow} `));
        await client.query(`analyze ${shadow}`);
      }
    },
    async swapIn() {
      for (const { live, view, shadow } of pairs) {
        // The view goes first and keeps its grants; it follows its table into the other schema.
        await client.query(`create or replace view public.${view} as select * from ${shadow}`);
        await client.query(`drop table public.${live}`);
        await client.query(`alter table ${shadow} set schema public`);
      }
    },
  };
}

/** Keys are made before the table is filled, because filling needs them. */
async function readKeys(client: ClientBase, table: string): Promise<readonly { readonly conname: string; readonly definition: string }[]> {
  const { rows } = await client.query<{ conname: string; definition: string }>(
    "select conname, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = $1::regclass and contype in ('p', 'u')",
    [`public.${table}`],
  );
  return rows;
}

async function readIndexes(client: ClientBase, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ definition: string }>(
    `select pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = $1::regclass and not exists (select from pg_constraint where conindid = indexrelid)`,
    [`public.${table}`],
  );
  return rows.map((row) => row.definition);
}
