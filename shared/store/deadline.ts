import { setTimeout as delay } from 'node:timers/promises';

/** First and longest wait before an operation is tried again, in ms; an election takes seconds, a race milliseconds. */
const WAIT_MS_MIN = 5;
const WAIT_MS_MAX = 500;

/** Bounds how long an operation is tried again and again. */
export class Deadline {
  readonly #end: number;
  #tries = 0;

  constructor(limitMs: number) {
    this.#end = performance.now() + limitMs;
  }

  get passed(): boolean {
    return performance.now() >= this.#end;
  }

  /** Waits before the next try, longer each time and never the same, so that racing writers part. */
  async pause(): Promise<void> {
    const longest = Math.min(WAIT_MS_MIN * 2 ** this.#tries, WAIT_MS_MAX);
    this.#tries += 1;
    await delay(longest * (0.5 + Math.random() / 2));
  }
}
