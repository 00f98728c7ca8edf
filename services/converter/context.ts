import type { EventData } from '../../shared/events/registry.ts';
import type { Clock } from '../../shared/clock/clock.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import type { DataKeys } from '../../shared/privacy/data-keys.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import type { Engine } from './engines/engine.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

/** An engine that passed its probe at start. */
export type ReadyEngine = {
  readonly name: EventData<'job.conversion_started'>['engine'];
  readonly version: string;
  readonly engine: Engine;
  readonly converts: (input: string, output: string) => boolean;
};

/** Everything the converter works with. */
export type ConverterContext = {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly dataKeys: DataKeys;
  readonly sandbox: Sandbox;
  readonly engines: readonly ReadyEngine[];
  /** Jobs that this process is converting now. */
  readonly running: Set<string>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a result is kept (§3). */
  readonly resultTtlMs: number;
  /** Wall-clock limit of one conversion. */
  readonly timeLimitMs: number;
  /** Largest result that is kept. */
  readonly resultBytesMax: number;
  /** Factor of §2.7. */
  readonly speedFactor: number;
};
