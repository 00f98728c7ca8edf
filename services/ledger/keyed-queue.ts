import { TransientError } from '../../shared/errors/errors.ts';

/** Decisions of one organization that may wait at once; one takes some milliseconds, and callers wait five seconds. */
const WAITING_MAX = 500;

type Line = { tail: Promise<unknown>; length: number };

/** Runs work one after the other for each key, and side by side for different keys. */
export class KeyedQueue {
  readonly #lines = new Map<string, Line>();

  /**
   * Runs `work` when everything that came before it for `key` is through, whatever became of that. Throws
   * `TransientError('ledger')` when the line is full, and what `work` throws.
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { tail: Promise.resolve(), length: 0 };
    if (line.length >= WAITING_MAX) throw new TransientError('ledger', 'too many decisions of one organization wait');
    this.#lines.set(key, line);
    line.length += 1;
    const turn = line.tail.then(work);
    line.tail = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      line.length -= 1;
      if (line.length === 0) this.#lines.delete(key);
    }
  }
}
