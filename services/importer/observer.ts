import { TransientError } from '../../shared/errors/errors.ts';
import type { Observation } from '../../shared/importer-client/messages.ts';

/** Files that are looked at once; each may be hashed whole, which keeps one core busy. */
const LOOKS_MAX = 4;
/** Jobs that wait for a look at most; more would not be looked at before whoever asked gives up. */
const WAITING_MAX = 2_000;

/**
 * Looks for files a few at a time, and for the file of one job never twice at once, however many ask.
 */
export class Observer {
  readonly #look: (jobId: string) => Promise<Observation>;
  readonly #running = new Map<string, Promise<Observation>>();
  readonly #waiting: (() => void)[] = [];
  #looks = 0;

  constructor(look: (jobId: string) => Promise<Observation>) {
    this.#look = look;
  }

  /**
   * What a look that begins now finds. A look that has begun already answers too if it found the file; if it did not,
   * the file may have come after it began, so it is not the answer. Throws what looking throws, and `TransientError`
   * when too many wait.
   */
  async observe(jobId: string): Promise<Observation> {
    const earlier = await this.#running.get(jobId);
    if (earlier !== undefined && earlier !== 'absent') return earlier;
    return await (this.#running.get(jobId) ?? this.#start(jobId));
  }

  /** Waits until no look is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running.values());
  }

  #start(jobId: string): Promise<Observation> {
    const looking = this.#inTurn(jobId).finally(() => this.#running.delete(jobId));
    this.#running.set(jobId, looking);
    return looking;
  }

  async #inTurn(jobId: string): Promise<Observation> {
    if (this.#waiting.length >= WAITING_MAX) throw new TransientError('importer', 'too many files wait for a look');
    if (this.#looks >= LOOKS_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#looks += 1;
    try {
      return await this.#look(jobId);
    } finally {
      // The place goes straight to whoever waits longest.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#looks -= 1;
    }
  }
}
