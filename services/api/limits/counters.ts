import { headers, RequestError, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { TransientError } from '../../../shared/errors/errors.ts';
import { RATE_STREAM } from '../../../shared/limits/subjects.ts';
import { toTransient } from '../../../shared/nats/transient.ts';
import { parseJson } from '../../../shared/json/parse-json.ts';

/** How long the server may take to answer, in ms; it usually takes a fraction of one. */
const ANSWER_MS_MAX = 2_000;
const STATUS_NOT_FOUND = 404;

const count = z.string().regex(/^\d+$/).transform(Number);
const counted = z.object({ val: count });

/**
 * The counters of the stream `RATE`, one at a subject. They are shared by all processes and exact: the server counts,
 * and answers each request with a number that no other one gets.
 */
export class Counters {
  readonly #nc: NatsConnection;
  readonly #makeStream: () => Promise<void>;
  #making: Promise<void> | undefined;

  /** `makeStream` is called when the stream is gone, which a restart of the server does to what lies in memory. */
  constructor(nc: NatsConnection, makeStream: () => Promise<void>) {
    this.#nc = nc;
    this.#makeStream = makeStream;
  }

  /**
   * Counts one up and answers the new count. It is not tried again when no answer comes: what was counted twice would
   * cost somebody a request. Throws `TransientError`.
   */
  async add(subject: string): Promise<number> {
    const increment = headers();
    increment.set('Nats-Incr', '+1');
    const message = await this.#ask(() => this.#nc.request(subject, '', { headers: increment, timeout: ANSWER_MS_MAX }));
    return requireValue(message);
  }

  /** The count as any replica has it, 0 when nothing was counted. Throws `TransientError`. */
  async read(subject: string): Promise<number> {
    const message = await this.#ask(() => this.#nc.request(`$JS.API.DIRECT.GET.${RATE_STREAM}.${subject}`, '', { timeout: ANSWER_MS_MAX }));
    return message.headers?.code === STATUS_NOT_FOUND ? 0 : requireValue(message);
  }

  /** Nobody listens on the subjects of a stream that is not there; then nothing was counted, and asking again is safe. */
  async #ask(request: () => Promise<Msg>): Promise<Msg> {
    try {
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof RequestError) || !error.isNoResponders()) throw error;
        await this.#make();
        return await request();
      }
    } catch (error) {
      throw toTransient(error);
    }
  }

  /** Everybody who finds the stream missing waits for the same attempt to make it. */
  #make(): Promise<void> {
    this.#making ??= this.#makeStream()
      .catch((cause: unknown) => {
        // Also when the server has no memory left for it: requests are not refused for good because of that.
        throw new TransientError('nats', 'the counters cannot be made', { cause });
      })
      .finally(() => (this.#making = undefined));
    return this.#making;
  }
}

/** The count in what the server stored, or in its acknowledgement; undefined when it says anything else. */
export function valueIn(message: Msg): number | undefined {
  return counted.safeParse(parseJson(message.string())).data?.val;
}

function requireValue(message: Msg): number {
  const value = valueIn(message);
  if (value === undefined) throw new TransientError('nats', 'a counter cannot be counted or read');
  return value;
}
