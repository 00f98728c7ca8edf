/** Counts how much of something may go on at once; who comes when all places are taken waits in turn. */
export class Places {
  readonly #total: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #whenAllFree: (() => void)[] = [];

  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  /** Takes a place as soon as there is one. */
  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Gives a place to whoever waits longest. */
  giveBack(): void {
    const next = this.#waiting.shift();
    if (next) return next();
    this.#free += 1;
    if (this.#free === this.#total) for (const resolve of this.#whenAllFree.splice(0)) resolve();
  }

  /** Waits until no place is taken. */
  async allFree(): Promise<void> {
    if (this.#free < this.#total) await new Promise<void>((resolve) => this.#whenAllFree.push(resolve));
  }
}
