import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { TransientError } from '../../shared/errors/errors.ts';
import { IMPORTER_QUEUE, IMPORTER_READY_SUBJECT, OBSERVE_SUBJECT, observeRequest, type ObserveReply } from '../../shared/importer-client/messages.ts';
import type { Logger } from '../../shared/log/log.ts';
import type { Observer } from './observer.ts';

/** Requests in hand at once; more than this cannot be answered before their callers give up. */
const REQUESTS_MAX = 5_000;

const UNAVAILABLE = { ok: false, code: 'unavailable' } as const;

/** Answers requests until it is stopped; `stop` takes no new one and finishes those in hand. */
export type Answering = { readonly stop: () => Promise<void> };

/** Answers `importer.observe` and `importer.ready`, each request by one importer of the group. */
export function answerRequests(nc: NatsConnection, observer: Observer, logger: Logger): Answering {
  const inHand = new Set<Promise<void>>();
  const subscriptions = [
    nc.subscribe(OBSERVE_SUBJECT, {
      queue: IMPORTER_QUEUE,
      callback(error, message) {
        if (error) return logger.warn({ err: error, subject: OBSERVE_SUBJECT }, 'a subscription ended');
        if (inHand.size >= REQUESTS_MAX) return reply(message, UNAVAILABLE);
        const answering = answer(message, observer, logger).finally(() => inHand.delete(answering));
        inHand.add(answering);
      },
    }),
    nc.subscribe(IMPORTER_READY_SUBJECT, { queue: IMPORTER_QUEUE, callback: (_error, message) => void message.respond(JSON.stringify({ ok: true })) }),
  ];
  return {
    async stop() {
      if (!nc.isClosed()) await Promise.all(subscriptions.map((subscription) => subscription.drain()));
      await Promise.all(inHand);
    },
  };
}

async function answer(message: Msg, observer: Observer, logger: Logger): Promise<void> {
  const parsed = observeRequest.safeParse(parseJson(message));
  if (!parsed.success) {
    logger.error({ err: parsed.error, subject: message.subject }, 'a request that this version does not understand');
    return reply(message, { ok: false, code: 'bad_request' });
  }
  const { job_id } = parsed.data;
  try {
    reply(message, { ok: true, status: await observer.observe(job_id) });
  } catch (error) {
    logger[error instanceof TransientError ? 'warn' : 'error']({ err: error, job_id }, 'could not look for a file');
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

/** An answer that does not arrive is the caller's timeout; the sweep looks again in any case. */
function reply(message: Msg, body: ObserveReply): void {
  message.respond(JSON.stringify(body));
}
