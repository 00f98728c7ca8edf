import type { Clock } from '../clock/clock.ts';

/** Keeps values for a while: at most `entriesMax` of them, the least recently used ones go first. */
export class ExpiringCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly untilMs: number }>();
  readonly #entriesMax: number;
  readonly #keepMs: number;
  readonly #clock: Clock;

  constructor(bounds: { readonly entriesMax: number; readonly keepMs: number }, clock: Clock) {
    this.#entriesMax = bounds.entriesMax;
    this.#keepMs = bounds.keepMs;
    this.#clock = clock;
  }

  /** The value, unless it was kept longer than `keepMs`; use does not lengthen its time. */
  get(name: string): Value | undefined {
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    this.#entries.delete(name);
    if (entry.untilMs <= this.#clock.nowMs()) return undefined;
    this.#entries.set(name, entry);
    return entry.value;
  }

  set(name: string, value: Value): void {
    this.#entries.delete(name);
    this.#entries.set(name, { value, untilMs: this.#clock.nowMs() + this.#keepMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#entriesMax) return;
      this.#entries.delete(oldest);
    }
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }
}
