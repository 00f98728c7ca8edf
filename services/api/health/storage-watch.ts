import type { ObjectStore } from '../../../shared/objects/object-store.ts';

/** How long a look that found the store working counts, in ms, and one that did not: nobody is kept away for long. */
const WORKING_COUNTS_MS = 2_000;
const AWAY_COUNTS_MS = 500;

/** Knows whether files can be stored; one look is shared by all who ask at the same time or shortly after. */
export class StorageWatch {
  readonly #objects: Pick<ObjectStore, 'probe'>;
  #look: { untilMs: number; readonly result: Promise<void> } | undefined;

  constructor(objects: Pick<ObjectStore, 'probe'>) {
    this.#objects = objects;
  }

  /** Throws `TransientError('storage')` when the store does not take files. */
  async requireWritable(): Promise<void> {
    if (!this.#look || this.#look.untilMs <= performance.now()) this.#look = this.#begin();
    await this.#look.result;
  }

  #begin(): { untilMs: number; readonly result: Promise<void> } {
    const result = this.#objects.probe();
    // Until it is through the look counts for everybody; from then on for as long as its outcome deserves.
    const look = { untilMs: Infinity, result };
    result.then(
      () => (look.untilMs = performance.now() + WORKING_COUNTS_MS),
      () => (look.untilMs = performance.now() + AWAY_COUNTS_MS),
    );
    return look;
  }
}
