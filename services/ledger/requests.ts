import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { TransientError } from '../../shared/errors/errors.ts';
import { GRANT_SUBJECT, grantRequest, HOLD_SUBJECT, holdRequest, LEDGER_QUEUE, LEDGER_TIMEOUT_MS, READY_SUBJECT } from '../../shared/ledger-client/messages.ts';
import type { GrantReply, HoldReply, ReadyReply } from '../../shared/ledger-client/messages.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { Admission } from './admission.ts';
import type { Books } from './books.ts';

/** Requests in hand at once; more than this cannot be answered before their callers give up. */
const REQUESTS_MAX = 2_000;
/** A request that waited this long, in ms, is not begun: its caller would be gone, and the hold an orphan. */
const BEGIN_WITHIN_MS = LEDGER_TIMEOUT_MS * 0.6;

const UNAVAILABLE = { ok: false, code: 'unavailable' } as const;
const BAD_REQUEST = { ok: false, code: 'bad_request' } as const;

/** Answers requests until it is stopped; `stop` takes no new one and finishes those in hand. */
export type Answering = { readonly stop: () => Promise<void> };

/** What answering needs. `isReady` tells whether this ledger follows the log. */
export type AnsweringParts = { readonly nc: NatsConnection; readonly books: Books; readonly admission: Admission; readonly isReady: () => boolean };

type Request = { readonly organization_id: string };

/** Answers `ledger.hold`, `ledger.grant` and `ledger.ready`, each request by one ledger of the group. */
export function answerRequests({ nc, books, admission, isReady }: AnsweringParts, logger: Logger): Answering {
  const inHand = new Set<Promise<void>>();
  const serve = <R extends Request>(subject: string, schema: z.ZodType<R>, work: (request: R) => Promise<HoldReply | GrantReply>) =>
    nc.subscribe(subject, {
      queue: LEDGER_QUEUE,
      callback(error, message) {
        if (error) {
          logger.warn({ err: error, subject }, 'a subscription ended');
        } else if (inHand.size >= REQUESTS_MAX) {
          reply(message, UNAVAILABLE);
        } else {
          const answering = answer(message, schema, books, work, logger).finally(() => inHand.delete(answering));
          inHand.add(answering);
        }
      },
    });
  const subscriptions = [
    serve(HOLD_SUBJECT, holdRequest, (request) => admission.hold(request)),
    serve(GRANT_SUBJECT, grantRequest, async (request) => ({ ok: true, ...(await admission.grant(request)) })),
    nc.subscribe(READY_SUBJECT, { queue: LEDGER_QUEUE, callback: (_error, message) => reply(message, { ok: isReady() }) }),
  ];
  return {
    async stop() {
      if (!nc.isClosed()) await Promise.all(subscriptions.map((subscription) => subscription.drain()));
      await Promise.all(inHand);
    },
  };
}

async function answer<R extends Request>(message: Msg, schema: z.ZodType<R>, books: Books, work: (request: R) => Promise<HoldReply | GrantReply>, logger: Logger): Promise<void> {
  const received = performance.now();
  const parsed = schema.safeParse(parseJson(message));
  if (!parsed.success) {
    logger.error({ err: parsed.error, subject: message.subject }, 'a request that this version does not understand');
    return reply(message, BAD_REQUEST);
  }
  try {
    const answered = await books.inTurn(parsed.data.organization_id, async () => {
      if (performance.now() - received > BEGIN_WITHIN_MS) throw new TransientError('ledger', 'a request waited too long');
      return work(parsed.data);
    });
    reply(message, answered);
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
