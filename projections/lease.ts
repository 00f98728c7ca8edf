import type { ClientBase } from 'pg';

/** First half of the keys of our advisory locks, so that no other user of the database meets them: "proj". */
const LOCK_CLASS = 0x70726f6a;
/** A dead network ends the connection, and with it the lease, after about these seconds: 5 idle, then 3 times 2. */
const KEEP_ALIVE = 'set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3';

/**
 * Tries to take the lease with this name; it is held until the connection ends. It only spares work: what makes a
 * second writer harmless is that positions are compared when they are moved.
 */
export async function holdsLease(client: ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as held', [LOCK_CLASS, name]);
  return rows[0]?.held === true;
}

/** Lets Postgres notice within seconds that the holder of a lease is gone without a word. */
export async function keepLeaseShort(client: ClientBase): Promise<void> {
  await client.query(KEEP_ALIVE);
}
