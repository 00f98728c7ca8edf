import type { NatsConnection } from '@nats-io/transport-node';
import type { AccountsCopy } from '../../shared/accounts/accounts-copy.ts';
import type { Clock } from '../../shared/clock/clock.ts';
import type { DeliveriesCopy } from '../../shared/deliveries/deliveries-copy.ts';
import type { WayOut } from '../../shared/egress/ask.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import type { DataKeys } from '../../shared/privacy/data-keys.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import type { EndpointPlaces } from './endpoint-places.ts';
import type { Figures } from './figures.ts';

/** How deliveries are made. Times are in ms. */
export type DeliveryTerms = {
  /** Waits after the first, second, … failure (§6 delivery 2). */
  readonly delaysMs: readonly number[];
  /** From looking the host up to the head of its answer (§6 delivery 1, D70). */
  readonly timeoutMs: number;
  /** An endpoint that has failed for so long, without a success in between, is disabled (D71). */
  readonly disableAfterMs: number;
};

/** Everything the notifier works with. */
export type NotifierContext = {
  readonly nc: NatsConnection;
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly dataKeys: DataKeys;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The endpoints; before it is asked about what may just have changed, `catchUpAccounts`. */
  readonly accounts: AccountsCopy;
  /** Waits until `accounts` knows everything that lay in the log at the call. Throws `TransientError`. */
  readonly catchUpAccounts: () => Promise<void>;
  /** How the endpoints have fared. */
  readonly deliveries: DeliveriesCopy;
  readonly wayOut: WayOut;
  readonly terms: DeliveryTerms;
  readonly places: EndpointPlaces;
  readonly figures: Figures;
};
