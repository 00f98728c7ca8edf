import { Tally } from '../../../shared/limits/tally.ts';

/**
 * Shares a number of places out among organizations: one may hold no more than there are places free. So a single one
 * gets half of them, many get the same share each, and whoever comes new finds a free one; slow hosts of one
 * organization never make another wait (§8).
 */
export class FetchPlaces {
  #free: number;
  readonly #held = new Tally();

  constructor(total: number) {
    this.#free = total;
  }

  /** Takes a place for an organization and answers how to give it back; undefined when it has its share. */
  take(organizationId: string): (() => void) | undefined {
    if (this.#held.of(organizationId) >= this.#free) return undefined;
    const takeOff = this.#held.add(organizationId);
    this.#free -= 1;
    return () => {
      takeOff();
      this.#free += 1;
    };
  }
}
