import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../shared/clock/clock.ts';
import type { EgressOptions } from '../../shared/egress/fetch.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import type { DataKeys } from '../../shared/privacy/data-keys.ts';
import type { EventStore } from '../../shared/store/event-store.ts';

/** Everything the importer works with. */
export type ImporterContext = {
  readonly nc: NatsConnection;
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly dataKeys: DataKeys;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Largest file of one single upload (§8). */
  readonly singleUploadBytesMax: number;
  /** Largest file however it came, and so of an upload in parts (§8). */
  readonly inputBytesMax: number;
  /** Files that are fetched from URLs at once. */
  readonly fetchesMax: number;
  /** How hosts that clients name are reached. */
  readonly egress: EgressOptions;
  /** Time after a job's end, in ms, until it is cleaned once more: what was still being written then is there by now. */
  readonly cleanAgainMs: number;
};
