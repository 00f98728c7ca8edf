import type { NatsConnection } from '@nats-io/transport-node';
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Pool } from 'pg';
import type { PositionWatch } from '../../projections/position-watch.ts';
import type { AccountsCopy } from '../../shared/accounts/accounts-copy.ts';
import type { Clock } from '../../shared/clock/clock.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import type { DataKeys } from '../../shared/privacy/data-keys.ts';
import type { MasterKey } from '../../shared/privacy/master-key.ts';
import type { AppendWatch } from '../../shared/store/append-watch.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import type { ApiConfig } from './config.ts';
import type { UploadsInHand } from './files/uploads-in-hand.ts';
import type { StorageWatch } from './health/storage-watch.ts';
import type { IdempotencyBucket } from './idempotency/bucket.ts';
import type { AddressFailures } from './limits/address-failures.ts';
import type { KeyBudgets } from './limits/key-budgets.ts';
import type { LogWatch } from './long-poll/log-watch.ts';
import type { WaitPlaces } from './long-poll/wait-places.ts';
import type { Offers } from './offers/offers-watch.ts';
import type { LogEnd } from './read-models/log-end.ts';
import type { LogGuard } from './read-models/log-guard.ts';
import type { WhenSettled } from './read-models/when-settled.ts';
import type { ChangeTurns } from './webhooks/change-turns.ts';
import type { UrlCheck } from './webhooks/check-url.ts';

/** Everything the routes work with. */
export type Dependencies = {
  readonly config: ApiConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nc: NatsConnection;
  readonly store: EventStore;
  readonly appendWatch: AppendWatch;
  readonly objects: ObjectStore;
  readonly storageWatch: StorageWatch;
  /** Verifies the links of uploads and downloads. */
  readonly linkKey: KeyObject;
  readonly accounts: AccountsCopy;
  /** False while the copy of the keys may be out of date (D4, D62). */
  readonly keysAreCurrent: () => boolean;
  /** Address of the client, behind trusted proxies too. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly addressFailures: AddressFailures;
  readonly keyBudgets: KeyBudgets;
  readonly dataKeys: DataKeys;
  readonly idempotency: IdempotencyBucket;
  readonly offers: Offers;
  readonly masterKey: MasterKey;
  readonly pool: Pool;
  readonly positions: PositionWatch;
  readonly logWatch: LogWatch;
  readonly logEnd: LogEnd;
  readonly logGuard: LogGuard;
  readonly whenSettled: WhenSettled;
  readonly waitPlaces: WaitPlaces;
  readonly uploadsInHand: UploadsInHand;
  readonly urlCheck: UrlCheck;
  readonly changeTurns: ChangeTurns;
  /** Aborted when the process stops: what waits answers at once. */
  readonly stopping: AbortSignal;
};
