import { checkReachable, type Reachability } from '../../../shared/egress/check-reachable.ts';
import { EgressAbortedError } from '../../../shared/egress/egress-error.ts';
import type { EgressOptions } from '../../../shared/egress/fetch.ts';
import { ApiError } from '../errors/api-error.ts';
import { unavailable } from '../errors/to-api-error.ts';

/** Longest look-up of one host, in ms; the client waits for it. */
const LOOK_MS_MAX = 5_000;
/** Hosts that are looked up at once in one process; a slow name server must not gather requests without end. */
const LOOKS_MAX = 200;

/** What a person can do about a URL that is refused. */
const MESSAGES: Readonly<Record<Exclude<Reachability, 'reachable'>, string>> = {
  not_https: 'must start with https://',
  invalid_url: 'must be a valid URL of at most 2048 characters, without credentials, spaces or a port of another protocol',
  blocked_address: 'must lead to a public host; private, loopback, link-local and cloud-metadata addresses are not allowed',
  unresolved: 'must lead to a public host; the name of this one does not resolve to an address',
};

/** Looks whether events may be sent to URLs that clients register. */
export class UrlCheck {
  readonly #egress: EgressOptions;
  #looks = 0;

  constructor(egress: EgressOptions) {
    this.#egress = egress;
  }

  /**
   * Refuses a URL that is not https, or whose host is not public now (§4.6, D55). Nothing is sent to it. Throws
   * `ApiError` 400 with an issue of `url`, 503 while too many others are looked up and when this process stops meanwhile.
   */
  async requireAllowed(url: string, signal: AbortSignal): Promise<void> {
    if (this.#looks >= LOOKS_MAX) throw unavailable('too_many_lookups');
    this.#looks += 1;
    try {
      const reachability = await checkReachable(this.#egress, url, { limitMs: LOOK_MS_MAX, signal });
      if (reachability !== 'reachable') throw ApiError.issues([{ path: 'url', message: MESSAGES[reachability] }]);
    } catch (error) {
      // Given up because the process stops; a client that has gone is told nothing.
      throw error instanceof EgressAbortedError ? unavailable('stopping') : error;
    } finally {
      this.#looks -= 1;
    }
  }
}
