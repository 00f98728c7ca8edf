import { createHmac, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import StripeLibrary from 'stripe';
import { deliveryHeaders, type SignedMessage, type SigningSecrets } from '../../shared/webhooks/sign.ts';

const NEW_SECRET = secret();
const OLD_SECRET = secret();
const MESSAGE: SignedMessage = {
  eventId: 'evt_0b8c2a52-6b57-8a5f-9d0e-3d1f4c1f0a11',
  body: Buffer.from(JSON.stringify({ id: 'evt_0b8c2a52-6b57-8a5f-9d0e-3d1f4c1f0a11', event: 'job.finished', data: { job: { tag: 'schöne Grüße ✓' } } })),
  nowMs: Date.now(),
};

describe('The signatures of a delivery (§6)', () => {
  const stripe = new StripeLibrary('sk_test_none');

  it('are those that the library of Stripe verifies, with the whole secret as key (§6 signature 1, D67)', () => {
    const header = headersOf(MESSAGE, [NEW_SECRET])['service-signature'] ?? '';
    const event: unknown = stripe.webhooks.constructEvent(Buffer.from(MESSAGE.body), header, NEW_SECRET);
    expect(event).to.deep.equal(JSON.parse(Buffer.from(MESSAGE.body).toString()));
    expect(() => stripe.webhooks.constructEvent(Buffer.from(MESSAGE.body), header, OLD_SECRET)).to.throw();
    expect(() => stripe.webhooks.constructEvent(Buffer.concat([MESSAGE.body, Buffer.from(' ')]), header, NEW_SECRET)).to.throw();
  });

  it('are those that the library of Standard Webhooks verifies, with what the secret encodes as key (D67)', () => {
    const headers = headersOf(MESSAGE, [NEW_SECRET]);
    expect(new Webhook(NEW_SECRET).verify(Buffer.from(MESSAGE.body), headers)).to.deep.equal(JSON.parse(Buffer.from(MESSAGE.body).toString()));
    expect(() => new Webhook(OLD_SECRET).verify(Buffer.from(MESSAGE.body), headers)).to.throw();
    expect(() => new Webhook(NEW_SECRET).verify(Buffer.from(MESSAGE.body), { ...headers, 'webhook-id': 'evt_other' })).to.throw();
  });

  it('are two while a secret is rotated, the new one first, and either secret verifies (§6 signature 4, D68)', () => {
    const headers = headersOf(MESSAGE, [NEW_SECRET, OLD_SECRET]);
    const seconds = Math.floor(MESSAGE.nowMs / 1000);
    const signatures = [NEW_SECRET, OLD_SECRET].map((key) => createHmac('sha256', key).update(`${seconds}.${Buffer.from(MESSAGE.body).toString()}`).digest('hex'));
    expect(headers['service-signature']).to.equal(`t=${seconds},v1=${signatures[0]},v1=${signatures[1]}`);
    for (const held of [NEW_SECRET, OLD_SECRET]) {
      stripe.webhooks.constructEvent(Buffer.from(MESSAGE.body), headers['service-signature'] ?? '', held);
      new Webhook(held).verify(Buffer.from(MESSAGE.body), headers);
    }
  });

  it('are refused by both libraries when their time is more than 300 seconds away (§6 signature 3)', () => {
    const late = headersOf({ ...MESSAGE, nowMs: MESSAGE.nowMs - 310_000 }, [NEW_SECRET]);
    expect(() => stripe.webhooks.constructEvent(Buffer.from(MESSAGE.body), late['service-signature'] ?? '', NEW_SECRET)).to.throw(/tolerance/);
    expect(() => new Webhook(NEW_SECRET).verify(Buffer.from(MESSAGE.body), late)).to.throw(/old/);
  });

  it('change with the time of each attempt, while the id stays (D66)', () => {
    const first = headersOf(MESSAGE, [NEW_SECRET]);
    const second = headersOf({ ...MESSAGE, nowMs: MESSAGE.nowMs + 60_000 }, [NEW_SECRET]);
    expect(second['service-signature']).not.to.equal(first['service-signature']);
    expect([second['service-event-id'], second['webhook-id']]).to.deep.equal([MESSAGE.eventId, MESSAGE.eventId]);
  });

  it('come with the headers of the contract (§6 headers)', () => {
    const headers = headersOf(MESSAGE, [NEW_SECRET]);
    expect(headers).to.include({ 'content-type': 'application/json', 'user-agent': 'Service-Webhooks/1', 'service-event-id': MESSAGE.eventId });
    expect(headers['service-signature']).to.match(/^t=\d{10},v1=[0-9a-f]{64}$/);
  });
});

function secret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function headersOf(message: SignedMessage, secrets: SigningSecrets): Record<string, string> {
  return Object.fromEntries(deliveryHeaders(message, secrets).map(([name, value]) => [name.toLowerCase(), value]));
}
