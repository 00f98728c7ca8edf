import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { EventType } from '../../../shared/events/registry.ts';
import { parseSubject, STORED_PREFIX, typeFilter } from '../../../shared/store/subjects.ts';

/** What ends a job from outside while its file is being fetched. */
const ENDS = ['job.cancelled', 'job.deleted', 'job.failed'] as const satisfies readonly EventType[];

/**
 * Hears of jobs that end while this process works on them, so that it stops at once (D15). A word that is missed while
 * the connection is away costs the rest of one fetch and no more: what it brings is refused by the job.
 */
export class EndedJobs {
  readonly #subscriptions: readonly Subscription[];
  readonly #watches = new Map<string, Set<() => void>>();

  constructor(nc: NatsConnection) {
    this.#subscriptions = ENDS.map((type) =>
      nc.subscribe(`${STORED_PREFIX}${typeFilter(type)}`, {
        callback: (error, message) => {
          if (!error) this.#hear(message.subject);
        },
      }),
    );
  }

  /** Calls `onEnd` when the job ends; begin before the job is read. Answers how to stop watching. */
  watch(jobId: string, onEnd: () => void): () => void {
    const watches = this.#watches.get(jobId) ?? new Set();
    this.#watches.set(jobId, watches.add(onEnd));
    return () => {
      watches.delete(onEnd);
      if (watches.size === 0) this.#watches.delete(jobId);
    };
  }

  stop(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  #hear(subject: string): void {
    const { id } = parseSubject(subject.slice(STORED_PREFIX.length));
    for (const onEnd of this.#watches.get(id) ?? []) onEnd();
  }
}
