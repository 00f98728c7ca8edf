import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { TransientError } from '../../shared/errors/errors.ts';
import { GRANT_SUBJECT, grantRequest, HOLD_SUBJECT, holdRequest, LEDGER_QUEUE, READY_SUBJECT } from '../../shared/ledger-client/messages.ts';
import type { GrantReply, HoldReply, ReadyReply } from '../../shared/ledger-client/messages.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { Admission } from './admission.ts';

/** Requests in hand at once; more than this cannot be answered before their callers give up. */
const REQUESTS_MAX = 2_000;

const UNAVAILABLE = { ok: false, code: 'unavailable' } as const;
const BAD_REQUEST = { ok: false, code: 'bad_request' } as const;

/** Answers requests until it is stopped; `stop` takes no new one and finishes those in hand. */
export type Answering = { readonly stop: () => Promise<void> };

/** What answering needs. `isReady` tells whether this ledger follows the log. */
export type AnsweringParts = { readonly nc: NatsConnection; readonly admission: Admission; readonly isReady: () => boolean };

/** Serves one kind of request that came at `receivedMs` by `performance.now()`. */
type Work<Request> = (request: Request, receivedMs: number) => Promise<HoldReply | GrantReply>;

/** Answers `ledger.hold`, `ledger.grant` and `ledger.ready`, each request by one ledger of the group. */
export function answerRequests({ nc, admission, isReady }: AnsweringParts, logger: Logger): Answering {
  const inHand = new Set<Promise<void>>();
  const serve = <Request>(subject: string, schema: z.ZodType<Request>, work: Work<Request>) =>
    nc.subscribe(subject, {
      queue: LEDGER_QUEUE,
      callback(error, message) {
        if (error) {
          logger.warn({ err: error, subject }, 'a subscription ended');
        } else if (inHand.size >= REQUESTS_MAX) {
          reply(message, UNAVAILABLE);
        } else {
          const answering = answer(message, schema, work, logger).finally(() => inHand.delete(answering));
          inHand.add(answering);
        }
      },
    });
  const subscriptions = [
    serve(HOLD_SUBJECT, holdRequest, (request, receivedMs) => admission.hold(request, receivedMs)),
    serve(GRANT_SUBJECT, grantRequest, async (request, receivedMs) => ({ ok: true, ...(await admission.grant(request, receivedMs)) })),
    nc.subscribe(READY_SUBJECT, { queue: LEDGER_QUEUE, callback: (_error, message) => reply(message, { ok: isReady() }) }),
  ];
  return {
    async stop() {
      if (!nc.isClosed()) await Promise.all(subscriptions.map((subscription) => subscription.drain()));
      await Promise.all(inHand);
    },
  };
}

async function answer<Request>(message: Msg, schema: z.ZodType<Request>, work: Work<Request>, logger: Logger): Promise<void> {
  const receivedMs = performance.now();
  const parsed = schema.safeParse(parseJson(message));
  if (!parsed.success) {
    logger.error({ err: parsed.error, subject: message.subject }, 'a request that this version does not understand');
    return reply(message, BAD_REQUEST);
  }
  try {
    reply(message, await work(parsed.data, receivedMs));
  } catch (error) {
    logger[error instanceof TransientError ? 'warn' : 'error']({ err: error, subject: message.subject }, 'a request was not served');
    reply(message, UNAVAILABLE);
  }
}

function parseJson(message: Msg): unknown {
  try {
    return JSON.parse(message.string());
  } catch {
    return undefined;
  }
}

/** An answer that does not arrive is the caller's timeout; it asks again. */
function reply(message: Msg, body: HoldReply | GrantReply | ReadyReply): void {
  message.respond(JSON.stringify(body));
}
