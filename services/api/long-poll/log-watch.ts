import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from '../../../shared/log/log.ts';
import { STORED_PREFIX } from '../../../shared/store/subjects.ts';

/**
 * Streams whose end this process knows something of. It hears of what is stored in the first two; of the deliveries, which
 * are many, it knows its own alone.
 */
export type WatchedStream = 'JOBS' | 'CREDITS' | 'DELIVERIES';

/** Header in which the server names the position of what it republishes. */
const POSITION_HEADER = 'Nats-Sequence';

/** A watch over one job. It remembers a change that came while nobody was waiting. */
export type JobWatch = {
  /** Resolves at the next change, after `timeoutMs`, or when `signal` is aborted. */
  readonly next: (timeoutMs: number, signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
};

/**
 * One subscription of the process on what the log has stored: wakes those who wait for a job, and knows how far the
 * log is, so that lists can wait for their read model (D49). A message may be missed while the connection is away;
 * whoever waits also reads again by itself.
 */
export class LogWatch {
  readonly #seen: Record<WatchedStream, number> = { JOBS: 0, CREDITS: 0, DELIVERIES: 0 };
  readonly #watches = new Map<string, Set<() => void>>();
  readonly #subscriptions: readonly Subscription[];
  #isConnected = true;

  private constructor(nc: NatsConnection, logger: Logger) {
    this.#subscriptions = [
      subscribe(nc, 'job', logger, (message) => this.#hear('JOBS', message)),
      subscribe(nc, 'credits', logger, (message) => this.#hear('CREDITS', message)),
    ];
    void this.#followConnection(nc);
  }

  /** Subscribes, and answers when the server has it. Throws what the client throws when the server is away. */
  static async start(nc: NatsConnection, logger: Logger): Promise<LogWatch> {
    const watch = new LogWatch(nc, logger);
    await nc.flush();
    return watch;
  }

  /** False while the server is away: then what this process knows may be out of date. */
  isConnected(): boolean {
    return this.#isConnected;
  }

  /** Highest position of a stream that this process has appended, read or heard of. */
  seen(stream: WatchedStream): number {
    return this.#seen[stream];
  }

  /** Remembers a position that this process has appended or read. */
  note(stream: WatchedStream, position: number): void {
    this.#seen[stream] = Math.max(this.#seen[stream], position);
  }

  /** Watches a job; begin before the job is read, or a change in between is missed (D33). */
  watch(jobId: string): JobWatch {
    let hasChanged = false;
    let resume: (() => void) | undefined;
    const wake = (): void => {
      hasChanged = true;
      resume?.();
    };
    const watches = this.#watches.get(jobId) ?? new Set();
    this.#watches.set(jobId, watches.add(wake));
    return {
      async next(timeoutMs, signal) {
        if (!hasChanged && !signal.aborted) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, timeoutMs);
            resume = () => (clearTimeout(timer), resolve());
            signal.addEventListener('abort', resume, { once: true });
          });
          if (resume) signal.removeEventListener('abort', resume);
          resume = undefined;
        }
        hasChanged = false;
      },
      close: () => {
        watches.delete(wake);
        if (watches.size === 0) this.#watches.delete(jobId);
      },
    };
  }

  stop(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  #hear(stream: WatchedStream, message: Msg): void {
    this.note(stream, Number(message.headers?.get(POSITION_HEADER) ?? 0));
    if (stream !== 'JOBS') return;
    const jobId = message.subject.split('.')[2] ?? '';
    for (const wake of this.#watches.get(jobId) ?? []) wake();
  }

  async #followConnection(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') this.#isConnected = false;
      if (status.type !== 'reconnect') continue;
      this.#isConnected = true;
      for (const watches of this.#watches.values()) for (const wake of watches) wake();
    }
  }
}

function subscribe(nc: NatsConnection, kind: 'job' | 'credits', logger: Logger, hear: (message: Msg) => void): Subscription {
  return nc.subscribe(`${STORED_PREFIX}${kind}.>`, {
    callback: (error, message) => {
      if (error) logger.warn({ err: error }, 'the subscription on stored events reports an error');
      else hear(message);
    },
  });
}
