import { setMaxListeners } from 'node:events';
import { randomUUID } from 'node:crypto';
import { watchPositions } from '../../projections/position-watch.ts';
import { answerApplied } from '../../shared/accounts/applied.ts';
import { systemClock } from '../../shared/clock/clock.ts';
import { openEgress } from '../../shared/egress/open-egress.ts';
import { runService, type Cleanup } from '../../shared/lifecycle/run-service.ts';
import { createLogger, type Logger } from '../../shared/log/log.ts';
import { openNats } from '../../shared/nats/open.ts';
import { fileLinkKey } from '../../shared/objects/links.ts';
import { openObjectStore } from '../../shared/objects/open-store.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { watchAppends } from '../../shared/store/append-watch.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { createApp } from './app.ts';
import { openAccounts } from './accounts.ts';
import { budgetLimitsOf, readApiSettings } from './config.ts';
import type { Dependencies } from './dependencies.ts';
import { UploadsInHand } from './files/uploads-in-hand.ts';
import { StorageWatch } from './health/storage-watch.ts';
import { makeAddressReader, makeProxyCheck } from './http/client-address.ts';
import { securityHeaders } from './http/security-headers.ts';
import { startServer } from './http/server.ts';
import { IdempotencyBucket } from './idempotency/bucket.ts';
import { LogWatch } from './long-poll/log-watch.ts';
import { WaitPlaces } from './long-poll/wait-places.ts';
import { openLimits } from './limits/open-limits.ts';
import { OffersWatch } from './offers/offers-watch.ts';
import { openLogEnd } from './read-models/log-end.ts';
import { LogGuard } from './read-models/log-guard.ts';
import { watchSettling } from './read-models/when-settled.ts';
import { ChangeTurns } from './webhooks/change-turns.ts';
import { UrlCheck } from './webhooks/check-url.ts';

/** Requests in hand get this long to end at a stop, in ms; those that wait are answered at once. */
const STOP_GRACE_MS = 1_500;

await runService(() => createLogger('api', readApiSettings(process.env).settings.LOG_LEVEL), startApi);

async function startApi(cleanup: Cleanup, logger: Logger): Promise<void> {
  const { settings, config } = readApiSettings(process.env);
  const stopping = new AbortController();
  // Every request that waits listens to it.
  setMaxListeners(0, stopping.signal);
  const deps = await openDependencies(cleanup, logger, stopping.signal);
  const server = await startServer(createApp(deps), {
    port: settings.PORT,
    headers: securityHeaders(config.publicUrl),
    connections: { perAddressMax: settings.CONNECTIONS_PER_ADDRESS_MAX, isExempt: makeProxyCheck(settings.TRUSTED_PROXIES) },
  });
  cleanup.add('server', () => {
    stopping.abort();
    return server.stop(STOP_GRACE_MS);
  });
  logger.info({ port: server.port }, 'listening');
}

async function openDependencies(cleanup: Cleanup, logger: Logger, stopping: AbortSignal): Promise<Dependencies> {
  const { settings, config, masterKey } = readApiSettings(process.env);
  const egress = openEgress(settings, logger);
  const nc = await openNats(settings, 'api', cleanup, logger);
  const logWatch = await LogWatch.start(nc, logger);
  cleanup.add('log watch', () => logWatch.stop());
  const accounts = await openAccounts(nc, settings.DATA_DIR, logger);
  cleanup.add('accounts', () => accounts.stop());
  const applied = await answerApplied(nc, accounts, randomUUID(), logger);
  cleanup.add('answers to operators', () => applied.stop());
  const limits = await openLimits(nc, { budgets: budgetLimitsOf(settings), failures: settings.IP_FAILURE_LIMIT, replicas: settings.NATS_REPLICAS }, masterKey, logger);
  cleanup.add('limits', () => limits.stop());
  const pool = createPool(settings.DATABASE_URL, logger, 'api');
  cleanup.add('postgres', () => pool.end());
  const positions = watchPositions(nc, pool);
  cleanup.add('position watch', () => positions.stop());
  const logGuard = await LogGuard.start(nc, pool, logger);
  cleanup.add('log guard', () => logGuard.stop());
  const offers = await OffersWatch.start(nc, logger);
  cleanup.add('offers', () => offers.stop());
  const appendWatch = watchAppends(nc);
  const objects = await openObjectStore(settings, masterKey);
  return {
    config,
    clock: systemClock,
    logger,
    nc,
    store: appendWatch.watched(createJetStreamStore(nc)),
    appendWatch,
    objects,
    storageWatch: new StorageWatch(objects),
    linkKey: fileLinkKey(masterKey),
    accounts,
    keysAreCurrent: () => logWatch.isConnected() && !accounts.reader.halted() && applied.isCurrent(),
    addressOf: makeAddressReader(settings.TRUSTED_PROXIES),
    addressFailures: limits.addressFailures,
    keyBudgets: limits.keyBudgets,
    dataKeys: await openKvDataKeys(nc, masterKey),
    idempotency: await IdempotencyBucket.open(nc, config.idempotencyTtlMs),
    offers,
    masterKey,
    pool,
    positions,
    logWatch,
    logEnd: await openLogEnd(nc, logWatch),
    logGuard,
    whenSettled: watchSettling(nc),
    waitPlaces: new WaitPlaces(),
    uploadsInHand: new UploadsInHand(),
    urlCheck: new UrlCheck(egress),
    changeTurns: new ChangeTurns(),
    stopping,
  };
}
