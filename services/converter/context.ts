import type { Clock } from '../../shared/clock/clock.ts';
import type { Pair } from '../../shared/domain/catalogue/pairs.ts';
import type { EngineName, Lane } from '../../shared/domain/catalogue/tools.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import type { DataKeys } from '../../shared/privacy/data-keys.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import type { Engine } from './engines/engine.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

/** An engine that can convert a job here: all the tools that the pair needs passed their self-test. */
export type ReadyEngine = {
  readonly name: EngineName;
  /** Of the first tool of the pair. */
  readonly version: string;
  readonly engine: Engine;
};

/** Everything the converter works with. */
export type ConverterContext = {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly dataKeys: DataKeys;
  readonly sandbox: Sandbox;
  /** The queue whose jobs are converted; those of other queues are left to them. */
  readonly lane: Lane;
  /** The engine for a pair; undefined when a tool that it needs does not work in this process. */
  readonly engineFor: (pair: Pair) => ReadyEngine | undefined;
  /** Jobs of this queue that this process is converting now. */
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
