/** How many of something are there for each key; a key of which there is none is forgotten. */
export class Tally {
  readonly #counts = new Map<string, number>();

  /** How many there are for a key. */
  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Counts one more for a key and answers how to take it off again. */
  add(key: string): () => void {
    this.#counts.set(key, this.of(key) + 1);
    return () => {
      const left = this.of(key) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }
}
