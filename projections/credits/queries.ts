import type { Pool } from 'pg';
import { toTransient } from '../../shared/postgres/transient.ts';

/** Credits that the organization can spend, net of holds (D28); 0 for one that never had any. Throws `TransientError`. */
export async function readBalance(pool: Pool, organizationId: string): Promise<number> {
  try {
    const { rows } = await pool.query<{ balance: string }>('select granted - held - charged as balance from credits where organization_id = $1', [organizationId]);
    return Number(rows[0]?.balance ?? 0);
  } catch (error) {
    throw toTransient(error);
  }
}
