import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import type { z } from 'zod';
import { TransientError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { parseJson } from '../json/parse-json.ts';

/** What every caller must understand besides the answer itself. */
const UNAVAILABLE = { ok: false, code: 'unavailable' } as const;
const BAD_REQUEST = { ok: false, code: 'bad_request' } as const;

/** Answers requests until it is stopped; `stop` takes no new one and finishes those in hand. */
export type Answering = { readonly stop: () => Promise<void> };

/** One kind of request on a subject of its own, parsed before it is served. `receivedMs` is by `performance.now()`. */
export type RequestKind = { readonly subject: string; readonly serve: (message: Msg, receivedMs: number) => Promise<object> };

/** Who answers: processes of one group share the requests, each of which goes to one of them. */
export type AnsweringOptions = {
  readonly queue: string;
  /** Requests in hand at once; more than this could not be answered before their callers give up. */
  readonly requestsMax: number;
  readonly kinds: readonly RequestKind[];
};

/** Serves requests that fit `schema`; others are answered `bad_request`. */
export function requestKind<Request>(subject: string, schema: z.ZodType<Request>, work: (request: Request, receivedMs: number) => Promise<object>): RequestKind {
  return {
    subject,
    async serve(message, receivedMs) {
      const parsed = schema.safeParse(parseJson(message.string()));
      if (!parsed.success) throw new BadRequest(parsed.error);
      return work(parsed.data, receivedMs);
    },
  };
}

/**
 * Answers requests on core NATS. An answer that does not arrive is the caller's timeout, and it asks again; a request
 * that cannot be served now is answered `unavailable`.
 */
export function answerRequests(nc: NatsConnection, { queue, requestsMax, kinds }: AnsweringOptions, logger: Logger): Answering {
  const inHand = new Set<Promise<void>>();
  const subscriptions = kinds.map((kind): Subscription =>
    nc.subscribe(kind.subject, {
      queue,
      callback(error, message) {
        if (error) return logger.warn({ err: error, subject: kind.subject }, 'a subscription ended');
        if (inHand.size >= requestsMax) return reply(message, UNAVAILABLE);
        const answering = answer(kind, message, logger).finally(() => inHand.delete(answering));
        inHand.add(answering);
      },
    }),
  );
  return {
    async stop() {
      if (!nc.isClosed()) await Promise.all(subscriptions.map((subscription) => subscription.drain()));
      await Promise.all(inHand);
    },
  };
}

/** The request does not fit the schema of its kind. */
class BadRequest extends Error {
  constructor(cause: unknown) {
    super('a request that this version does not understand', { cause });
  }
}

async function answer(kind: RequestKind, message: Msg, logger: Logger): Promise<void> {
  try {
    reply(message, await kind.serve(message, performance.now()));
  } catch (error) {
    logger[error instanceof TransientError ? 'warn' : 'error']({ err: error, subject: kind.subject }, 'a request was not served');
    reply(message, error instanceof BadRequest ? BAD_REQUEST : UNAVAILABLE);
  }
}

function reply(message: Msg, body: object): void {
  message.respond(JSON.stringify(body));
}
