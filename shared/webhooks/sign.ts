import { createHmac } from 'node:crypto';
import type { Header } from '../egress/header-rules.ts';

/** Every secret begins so; what follows is base64 of 32 random bytes (D67). */
export const SECRET_PREFIX = 'whsec_';
/** Name under which deliveries present themselves (§6 headers). */
const USER_AGENT = 'Service-Webhooks/1';

/** What is signed: the id of the event, the exact bytes of the body, and the time of this attempt in ms. */
export type SignedMessage = { readonly eventId: string; readonly body: Uint8Array; readonly nowMs: number };

/** Secrets of an endpoint, the newest first; a second one while it is being rotated, never a third (D68). */
export type SigningSecrets = readonly [current: string, previous?: string];

/**
 * Headers of one attempt (§6 headers): those of the contract, and those of Standard Webhooks over the same secret, so
 * that receivers can use stock libraries. Time and signatures belong to the attempt, never to the event (D66).
 */
export function deliveryHeaders(message: SignedMessage, secrets: SigningSecrets): readonly Header[] {
  const seconds = Math.floor(message.nowMs / 1000);
  return [
    ['Content-Type', 'application/json'],
    ['User-Agent', USER_AGENT],
    ['Service-Event-Id', message.eventId],
    ['Service-Signature', [`t=${seconds}`, ...held(secrets).map((secret) => `v1=${signBody(secret, seconds, message.body)}`)].join(',')],
    ['webhook-id', message.eventId],
    ['webhook-timestamp', String(seconds)],
    ['webhook-signature', held(secrets).map((secret) => `v1,${signStandard(secret, message.eventId, seconds, message.body)}`).join(' ')],
  ];
}

/** HMAC-SHA256 over `<t>.<body>` in lower-case hexadecimal; the key is the secret as it is written (§6 signature 1, D67). */
export function signBody(secret: string, seconds: number, body: Uint8Array): string {
  return createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
}

/** The same of Standard Webhooks: over `<id>.<t>.<body>` in base64; the key is what the secret encodes (D67). */
export function signStandard(secret: string, eventId: string, seconds: number, body: Uint8Array): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${eventId}.${seconds}.`).update(body).digest('base64');
}

function held(secrets: SigningSecrets): readonly string[] {
  return secrets.filter((secret) => secret !== undefined);
}
