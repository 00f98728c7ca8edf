import StripeLibrary from 'stripe';
import { Webhook } from 'standardwebhooks';
import { waitFor } from '../../services/standalone/processes.ts';
import type { JobView } from '../../shared/domain/job-view.ts';
import type { OriginRequest } from './origin.ts';
import type { EgressBench } from './egress-bench.ts';

/** An event takes milliseconds, on a busy machine seconds. */
const ARRIVAL_LIMIT_MS = 60_000;

/** Body of a delivery. */
export type ReceivedEvent = { readonly id: string; readonly event: string; readonly created_at: string; readonly data: { readonly job: JobView }; readonly test?: boolean };

/** One path of the far host, as a receiver of webhooks. */
export class WebhookReceiver {
  readonly url: string;
  readonly #far: EgressBench;
  readonly #path: string;

  constructor(far: EgressBench, path: string) {
    [this.#far, this.#path, this.url] = [far, path, far.url(path)];
    this.answer(200);
  }

  /** What it answers from now on. */
  answer(status: number): void {
    this.#far.origin.on(this.#path, (socket) => socket.end(`HTTP/1.1 ${status} Status\r\nContent-Length: 2\r\n\r\nok`));
  }

  /** Requests that have arrived, oldest first. */
  requests(): readonly OriginRequest[] {
    return this.#far.origin.requests.filter(({ path }) => path === this.#path);
  }

  /** Events that have arrived, oldest first. */
  events(): readonly ReceivedEvent[] {
    return this.requests().map(({ body }) => JSON.parse(body.toString()) as ReceivedEvent);
  }

  /** Waits until some request has arrived, after the first `from`. */
  async until(what: string, isMeant: (event: ReceivedEvent) => boolean, from = 0): Promise<{ readonly event: ReceivedEvent; readonly request: OriginRequest }> {
    return waitFor(what, ARRIVAL_LIMIT_MS, () => {
      const [events, requests] = [this.events(), this.requests()];
      const index = events.findIndex((event, at) => at >= from && isMeant(event));
      const [event, request] = [events[index], requests[index]];
      return event && request ? { event, request } : undefined;
    });
  }
}

/**
 * Verifies a request by two libraries of others: the contract's header by that of Stripe, whose scheme it is, the rest by
 * that of Standard Webhooks. Throws when either refuses.
 */
export function verifyByLibraries({ headers, body }: OriginRequest, secret: string): void {
  new StripeLibrary('sk_test_none').webhooks.constructEvent(body, headers.get('service-signature') ?? '', secret);
  new Webhook(secret).verify(body, Object.fromEntries(headers));
}
