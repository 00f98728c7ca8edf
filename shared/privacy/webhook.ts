import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { ShownTyped } from '../domain/job-view.ts';
import { Defect } from '../errors/errors.ts';
import { open, seal } from './seal.ts';

/** What a client typed when it registered an endpoint. A URL may hold a secret as much as a header may. */
const detailsSchema = z.object({ url: z.string(), description: z.string().optional() });
export type WebhookDetails = z.infer<typeof detailsSchema>;

const name = z.string().min(1);
/** What a client typed into a job, as far as the body of a delivery shows it. */
const typedSchema = z.object({
  tag: z.string().optional(),
  task_names: z.object({ import: name, convert: name, export: name }),
  ignored_options: z.array(z.string()),
});
export type DeliveryTyped = z.infer<typeof typedSchema>;

/** Seals what a client typed about its endpoint, under the key that `webhookKeyName` names. */
export function sealWebhookDetails(key: KeyObject, organizationId: string, webhookId: string, details: WebhookDetails): string {
  return seal(key, details, place(organizationId, webhookId, 'details'));
}

/** Opens it again. Throws `Defect` when it was altered, moved to another endpoint, or is not of our making. */
export function openWebhookDetails(key: KeyObject, organizationId: string, webhookId: string, sealed: string): WebhookDetails {
  return parse(detailsSchema, open(key, sealed, place(organizationId, webhookId, 'details')));
}

/** Seals the signing secret of an endpoint under the same key (D57). */
export function sealWebhookSecret(key: KeyObject, organizationId: string, webhookId: string, secret: string): string {
  return seal(key, secret, place(organizationId, webhookId, 'secret'));
}

/** Opens it again. Throws `Defect` as above. */
export function openWebhookSecret(key: KeyObject, organizationId: string, webhookId: string, sealed: string): string {
  return parse(name, open(key, sealed, place(organizationId, webhookId, 'secret')));
}

/** Seals what the body of a delivery shows of what a client typed into the job, under the same key (D73). */
export function sealDeliveryTyped(key: KeyObject, organizationId: string, deliveryId: string, typed: ShownTyped): string {
  return seal(key, typedSchema.parse(typed), place(organizationId, deliveryId, 'typed'));
}

/** Opens it again. Throws `Defect` when it was altered, moved to another delivery, or is not of our making. */
export function openDeliveryTyped(key: KeyObject, organizationId: string, deliveryId: string, sealed: string): DeliveryTyped {
  return parse(typedSchema, open(key, sealed, place(organizationId, deliveryId, 'typed')));
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Defect('what is sealed of an endpoint has an unknown shape', { cause: parsed.error });
  return parsed.data;
}

function place(organizationId: string, id: string, field: 'details' | 'secret' | 'typed'): string {
  return `${organizationId}|${id}|${field}`;
}
