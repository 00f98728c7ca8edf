import { join } from 'node:path';
import { AccountsCopy } from '../../shared/accounts/accounts-copy.ts';
import { systemClock } from '../../shared/clock/clock.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { shareNextLook } from '../../shared/consume/share-next-look.ts';
import { DeliveriesCopy } from '../../shared/deliveries/deliveries-copy.ts';
import { EGRESS_SETTINGS, openEgress } from '../../shared/egress/open-egress.ts';
import { runService, type Cleanup } from '../../shared/lifecycle/run-service.ts';
import { createLogger, type Logger } from '../../shared/log/log.ts';
import { untilLogIsRight } from '../../shared/log-state/until-log-is-right.ts';
import { NATS_SETTINGS, openNats } from '../../shared/nats/open.ts';
import { OBJECT_SETTINGS, openObjectStore } from '../../shared/objects/open-store.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import type { NotifierContext } from './context.ts';
import { EndpointPlaces } from './endpoint-places.ts';
import { Figures } from './figures.ts';
import { startNotifier } from './notifier.ts';

/** How long filling an empty copy may take at the start, in ms; a million events take well under a minute. */
const FIRST_CATCH_UP_MS_MAX = 10 * 60_000;
/** Longest wait until the copy of the accounts knows what lies in the log, in ms; it usually takes one. */
const CATCH_UP_MS_MAX = 5_000;

const WEBHOOK_SETTINGS = ['WEBHOOK_RETRY_DELAYS_SECONDS', 'WEBHOOK_TIMEOUT_SECONDS', 'WEBHOOK_DISABLE_AFTER_SECONDS', 'WEBHOOK_SLOTS'] as const;

const loadConfig = () =>
  loadSettings(process.env, [...NATS_SETTINGS, ...OBJECT_SETTINGS, 'MASTER_KEY', 'LOG_LEVEL', ...EGRESS_SETTINGS, ...WEBHOOK_SETTINGS], ['NATS_URL', 'MASTER_KEY']);

await runService(() => createLogger('notifier', loadConfig().LOG_LEVEL), start);

async function start(cleanup: Cleanup, logger: Logger): Promise<void> {
  const config = loadConfig();
  const masterKey = openMasterKey(config.MASTER_KEY);
  const wayOut = openEgress(config, logger);
  const figures = new Figures();
  const nc = await openNats(config, 'notifier', cleanup, logger, () => figures.render());
  await untilLogIsRight(nc, logger);
  const folder = join(config.DATA_DIR, 'copies');
  const accounts = await AccountsCopy.open(nc, logger, folder);
  cleanup.add('copy of the accounts', () => accounts.stop());
  const deliveries = await DeliveriesCopy.open(nc, logger, folder);
  cleanup.add('copy of the deliveries', () => deliveries.stop());
  await accounts.catchUp(FIRST_CATCH_UP_MS_MAX);
  await deliveries.catchUp(FIRST_CATCH_UP_MS_MAX);
  const context: NotifierContext = {
    nc,
    store: createJetStreamStore(nc),
    objects: await openObjectStore(config, masterKey),
    dataKeys: await openKvDataKeys(nc, masterKey),
    clock: systemClock,
    logger,
    accounts,
    catchUpAccounts: shareNextLook(() => accounts.catchUp(CATCH_UP_MS_MAX)),
    deliveries,
    wayOut,
    terms: {
      delaysMs: config.WEBHOOK_RETRY_DELAYS_SECONDS.map((delay) => delay * 1_000),
      timeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1_000,
      disableAfterMs: config.WEBHOOK_DISABLE_AFTER_SECONDS * 1_000,
    },
    places: new EndpointPlaces(config.WEBHOOK_SLOTS, systemClock),
    figures,
  };
  await startNotifier(context, config.WEBHOOK_SLOTS, cleanup);
}
