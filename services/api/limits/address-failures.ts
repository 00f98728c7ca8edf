import { createHmac, type KeyObject } from 'node:crypto';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Clock } from '../../../shared/clock/clock.ts';
import { FAILURES_FILTER, failuresSubject } from '../../../shared/limits/subjects.ts';
import type { Logger } from '../../../shared/log/log.ts';
import { STORED_PREFIX } from '../../../shared/store/subjects.ts';
import { limitError } from './limit-error.ts';
import { valueIn, type Counters } from './counters.ts';
import { endOf, minuteOf } from './minute.ts';
import { HighestCounts } from './highest-counts.ts';

/** Characters of the name of an address: more than enough to tell all addresses apart. */
const NAME_CHARACTERS = 22;

/**
 * How often each address has failed to say who it is in this minute (§8 rate limits 5, D61). The server counts, so the
 * number of failures is exact; what it counted it tells every process at once, so that an address that is shut out by
 * one is shut out by all. An address that this process hears of for the first time in a minute, it asks for.
 */
export class AddressFailures {
  readonly #counters: Counters;
  readonly #limit: number;
  readonly #key: KeyObject;
  readonly #clock: Clock;
  readonly #subscription: Subscription;
  readonly #seen: HighestCounts;

  private constructor(nc: NatsConnection, counters: Counters, limit: number, key: KeyObject, clock: Clock, logger: Logger) {
    this.#counters = counters;
    this.#limit = limit;
    this.#key = key;
    this.#clock = clock;
    this.#seen = new HighestCounts(clock);
    this.#subscription = nc.subscribe(STORED_PREFIX + FAILURES_FILTER, {
      callback: (error, message) => {
        if (error) logger.warn({ err: error }, 'the subscription on failed attempts reports an error');
        else this.#seen.note(message.subject.slice(STORED_PREFIX.length), valueIn(message) ?? 0);
      },
    });
    void this.#followConnection(nc);
  }

  /** Counts by the names that `key` gives addresses: they themselves never leave the process. Throws what the client throws. */
  static async start(nc: NatsConnection, counters: Counters, options: { readonly limit: number; readonly key: KeyObject; readonly clock: Clock; readonly logger: Logger }): Promise<AddressFailures> {
    const failures = new AddressFailures(nc, counters, options.limit, options.key, options.clock, options.logger);
    await nc.flush();
    return failures;
  }

  /** Throws `ApiError` 429 when the address is shut out in this minute, `TransientError` when that cannot be known. */
  async requireAllowed(address: string): Promise<void> {
    const minute = minuteOf(this.#clock.nowMs());
    const subject = this.#subjectOf(minute, address);
    const count = this.#seen.get(subject) ?? this.#seen.note(subject, await this.#counters.read(subject));
    if (count >= this.#limit) throw this.#refusal(minute);
  }

  /** Counts a failure. Throws `ApiError` 429 when others were faster and the address is over its limit by now, `TransientError`. */
  async add(address: string): Promise<void> {
    const minute = minuteOf(this.#clock.nowMs());
    const subject = this.#subjectOf(minute, address);
    const count = await this.#counters.add(subject);
    this.#seen.note(subject, count);
    if (count > this.#limit) throw this.#refusal(minute);
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }

  #refusal(minute: number): Error {
    return limitError('ip_throttled', this.#limit, endOf(minute), this.#clock.nowMs());
  }

  #subjectOf(minute: number, address: string): string {
    return failuresSubject(minute, createHmac('sha256', this.#key).update(address).digest('base64url').slice(0, NAME_CHARACTERS));
  }

  /** What was counted while the connection was away has not been told. */
  async #followConnection(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) if (status.type === 'reconnect') this.#seen.forgetAll();
  }
}
