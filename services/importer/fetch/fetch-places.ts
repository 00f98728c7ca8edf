/**
 * Shares a number of places out among organizations: one may hold no more than there are places free. So a single one
 * gets half of them, many get the same share each, and whoever comes new finds a free one; slow hosts of one
 * organization never make another wait (§8).
 */
export class FetchPlaces {
  #free: number;
  readonly #held = new Map<string, number>();

  constructor(total: number) {
    this.#free = total;
  }

  /** Takes a place for an organization and answers how to give it back; undefined when it has its share. */
  take(organizationId: string): (() => void) | undefined {
    const held = this.#held.get(organizationId) ?? 0;
    if (held >= this.#free) return undefined;
    this.#free -= 1;
    this.#held.set(organizationId, held + 1);
    return () => this.#giveBack(organizationId);
  }

  #giveBack(organizationId: string): void {
    const left = (this.#held.get(organizationId) ?? 1) - 1;
    if (left === 0) this.#held.delete(organizationId);
    else this.#held.set(organizationId, left);
    this.#free += 1;
  }
}
