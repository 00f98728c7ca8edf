import { Tally } from '../../../shared/limits/tally.ts';

/**
 * Requests of one key that may wait at once; each costs about 20 kB. As many as the default budget of a key allows in two
 * minutes that touch, so that a wait is cut short only where an operator gives larger budgets (§4.3, §8).
 */
const PLACES_PER_KEY_MAX = 600;
/** Requests that may wait at once in one process. */
const PLACES_MAX = 5_000;

/** Bounds how many requests wait. Who finds no place is answered at once with the job as it is. */
export class WaitPlaces {
  readonly #byKey = new Tally();
  #taken = 0;

  /** How many requests wait now. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes a place and answers how to give it back; undefined when there is none. */
  take(apiKeyId: string): (() => void) | undefined {
    if (this.#byKey.of(apiKeyId) >= PLACES_PER_KEY_MAX || this.#taken >= PLACES_MAX) return undefined;
    const takeOff = this.#byKey.add(apiKeyId);
    this.#taken += 1;
    return () => {
      takeOff();
      this.#taken -= 1;
    };
  }
}
