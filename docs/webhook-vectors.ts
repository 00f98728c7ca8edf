import { deliveryHeaders, type SigningSecrets } from '../shared/webhooks/sign.ts';

/** A delivery as a receiver gets it, what the receiver holds, its clock, and whether it has to take it. */
export type WebhookVector = {
  readonly name: string;
  /** Secrets that the receiver holds. */
  readonly secrets: readonly string[];
  /** The receiver's clock, in seconds since the epoch. */
  readonly now: number;
  readonly headers: Readonly<Record<'Service-Signature' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>;
  /** The bytes of the body as UTF-8 text. */
  readonly body: string;
  readonly genuine: boolean;
};

const EVENT_ID = 'evt_5d0f6c1e-8a53-8e0b-9f2d-6b7a1c3e4f50';
const SENT_AT = 1_767_225_600;
const TOLERANCE_SECONDS = 300;
const [SECRET, OLD_SECRET, OTHER_SECRET] = ['the secret of these vectors, 32 b', 'the secret that was used before it', 'a secret of an unrelated endpoint.'].map((text) => `whsec_${Buffer.from(text.slice(0, 32)).toString('base64')}`) as [string, string, string];
const BODY = JSON.stringify({ id: EVENT_ID, event: 'job.finished', created_at: '2026-01-01T00:00:00.000Z', data: { job: { id: '0190a6c1-7d4b-7c6e-9b1f-2f1de5a0c7d3', status: 'finished' } } });

/** Test vectors for receivers: what they must take, and what they must refuse. Made by the code that signs deliveries. */
export function composeVectors(): readonly WebhookVector[] {
  const whole = sign(BODY, [SECRET]);
  const rotating = sign(BODY, [SECRET, OLD_SECRET]);
  const unicode = BODY.replace('"status"', '"tag":"Grüße, 世界 🎉 \\\\ \\"","status"');
  const spaced = `${BODY.replaceAll(':', ': ')} \n`;
  const later = (SENT_AT + 60).toString();
  return [
    vector('a delivery', {}),
    vector('a body in many scripts', { body: unicode, headers: sign(unicode, [SECRET]) }),
    vector('a body with spaces and a line end, which belong to it', { body: spaced, headers: sign(spaced, [SECRET]) }),
    vector('300 seconds late', { now: SENT_AT + TOLERANCE_SECONDS }),
    vector('by a clock that is 300 seconds behind', { now: SENT_AT - TOLERANCE_SECONDS }),
    vector('during a rotation, to a receiver that has the new secret', { headers: rotating }),
    vector('during a rotation, to a receiver that has the old secret', { headers: rotating, secrets: [OLD_SECRET] }),
    vector('after a rotation, to a receiver that holds both', { secrets: [OLD_SECRET, SECRET] }),
    refused('another secret', { secrets: [OTHER_SECRET] }),
    refused('a rotation that the receiver knows nothing of', { headers: rotating, secrets: [OTHER_SECRET] }),
    refused('one byte of the body is another', { body: BODY.replace('finished"', 'Finished"') }),
    refused('a byte more', { body: `${BODY}\n` }),
    refused('no body', { body: '' }),
    refused('a time that is not the signed one', { headers: { ...whole, 'Service-Signature': whole['Service-Signature'].replace(String(SENT_AT), later), 'webhook-timestamp': later }, now: SENT_AT + 60 }),
    refused('301 seconds late', { now: SENT_AT + TOLERANCE_SECONDS + 1 }),
    refused('by a clock that is 301 seconds behind', { now: SENT_AT - TOLERANCE_SECONDS - 1 }),
    refused('a signature that was cut off', { headers: { ...whole, 'Service-Signature': whole['Service-Signature'].slice(0, -2), 'webhook-signature': whole['webhook-signature'].slice(0, -4) } }),
    refused('a signature of a version that nobody knows', { headers: { ...whole, 'Service-Signature': whole['Service-Signature'].replace('v1=', 'v0='), 'webhook-signature': whole['webhook-signature'].replace('v1,', 'v0,') } }),
    refused('no time', { headers: { ...whole, 'Service-Signature': whole['Service-Signature'].replace(/^t=\d+,/u, ''), 'webhook-timestamp': '' } }),
    refused('no signature', { headers: { ...whole, 'Service-Signature': '', 'webhook-signature': '' } }),
  ];
}

/** The vectors as they are published. */
export function composeVectorsFile(): string {
  return `${JSON.stringify({ description: 'Deliveries as receivers get them. genuine: whether a receiver that holds these secrets, with its clock at now, has to take the delivery. See webhooks.md.', vectors: composeVectors() }, undefined, 2)}\n`;
}

type Given = Partial<Omit<WebhookVector, 'name' | 'genuine'>>;

function vector(name: string, given: Given): WebhookVector {
  return { name, secrets: [SECRET], now: SENT_AT + 2, headers: sign(BODY, [SECRET]), body: BODY, ...given, genuine: true };
}

function refused(name: string, given: Given): WebhookVector {
  return { ...vector(name, given), genuine: false };
}

function sign(body: string, secrets: SigningSecrets): WebhookVector['headers'] {
  const headers = new Map(deliveryHeaders({ eventId: EVENT_ID, body: Buffer.from(body), nowMs: SENT_AT * 1000 }, secrets));
  const header = (name: string): string => headers.get(name) ?? '';
  return {
    'Service-Signature': header('Service-Signature'),
    'webhook-id': header('webhook-id'),
    'webhook-timestamp': header('webhook-timestamp'),
    'webhook-signature': header('webhook-signature'),
  };
}
