import { Tally } from '../../../shared/limits/tally.ts';
import { unavailable } from '../errors/to-api-error.ts';

/** Changes of one organization that wait for those before them; its budget of requests lets a few hundred come in a minute. */
const WAITING_MAX = 200;

/**
 * Lets changes of one organization's account happen one after the other in this process: all of them are appended to
 * one aggregate, and many at once would only take each other's place in the log.
 */
export class ChangeTurns {
  readonly #last = new Map<string, Promise<void>>();
  readonly #waiting = new Tally();

  /** Does the work when those before it are done. Throws `ApiError` 503 when too many wait, and what the work throws. */
  async inTurn<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.of(organizationId) >= WAITING_MAX) throw unavailable('too_many_changes');
    const takeOff = this.#waiting.add(organizationId);
    const before = this.#last.get(organizationId);
    const done = Promise.resolve(before).then(work).finally(takeOff);
    const settled = done.then(() => undefined, () => undefined);
    this.#last.set(organizationId, settled);
    try {
      return await done;
    } finally {
      if (this.#last.get(organizationId) === settled) this.#last.delete(organizationId);
    }
  }
}
