import type { JobView } from '../domain/job-view.ts';
import type { WebhookEvent } from '../domain/webhooks.ts';

/** What the body of a delivery tells (§6 body). `eventId` is `evt_<uuid>`, `createdAt` the time of the event. */
export type WebhookMessage = {
  readonly eventId: string;
  readonly event: WebhookEvent;
  readonly createdAt: string;
  readonly job: JobView;
  /** A sample that a client asked for, and no event of a job (D59). */
  readonly isTest: boolean;
};

/** The body of a delivery as it goes over the wire (§6 body). The same message gives the same bytes (D66). */
export function composeBody({ eventId, event, createdAt, job, isTest }: WebhookMessage): Uint8Array {
  return Buffer.from(JSON.stringify({ id: eventId, event, created_at: createdAt, data: { job }, ...(isTest ? { test: true } : {}) }));
}
