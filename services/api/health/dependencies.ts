import { readModelHealth } from '../../../projections/health.ts';
import { isImporterReady } from '../../../shared/importer-client/importer-client.ts';
import { isLedgerReady } from '../../../shared/ledger-client/ledger-client.ts';
import { isTrueWithin } from '../../../shared/lifecycle/is-true-within.ts';
import type { Dependencies } from '../dependencies.ts';

/** How long a dependency may take to answer, in ms. */
const LOOK_MS_MAX = 1_500;
/** Events a read model may be behind and still count as following; it catches up with so many in well under a second. */
const LAG_MAX = 5_000;

/** State of a dependency. */
export type DependencyState = 'ok' | 'away';

/** Asks everything the api cannot serve without, at the same time and for a bounded time. */
export async function lookAtDependencies(deps: Dependencies): Promise<Readonly<Record<string, DependencyState>>> {
  const looks: Readonly<Record<string, () => Promise<boolean>>> = {
    nats: async () => deps.logWatch.isConnected() && deps.appendWatch.isTaking() && (await deps.nc.flush().then(() => true)),
    accounts: async () => deps.keysAreCurrent(),
    postgres: async () => (await deps.pool.query('select 1')).rowCount === 1,
    storage: () => deps.objects.probe().then(() => true),
    ledger: () => isLedgerReady(deps.nc),
    importer: () => isImporterReady(deps.nc),
    // Known once, it stays known: jobs of converters that are away are taken, and wait.
    converter: async () => Promise.resolve(deps.offers.isKnown()),
    read_model: () => isReadModelFollowing(deps),
  };
  const states = await Promise.all(Object.entries(looks).map(async ([name, look]) => [name, (await isTrueWithin(LOOK_MS_MAX, look)) ? 'ok' : 'away'] as const));
  return Object.fromEntries(states);
}

async function isReadModelFollowing(deps: Dependencies): Promise<boolean> {
  const health = await readModelHealth(deps.nc, deps.pool);
  return health.every(({ halted, lag }) => halted === undefined && lag <= LAG_MAX);
}
