import { createSecretKey, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Defect } from '../../shared/errors/errors.ts';
import { sealed } from '../../shared/events/fields.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { webhookKeyName } from '../../shared/privacy/data-keys.ts';
import { seal } from '../../shared/privacy/seal.ts';
import { openDeliveryTyped, openWebhookDetails, openWebhookSecret, sealDeliveryTyped, sealWebhookDetails, sealWebhookSecret } from '../../shared/privacy/webhook.ts';

const [ORGANIZATION, OTHER_ORGANIZATION, ID, OTHER_ID] = [deriveId('organization', 1), deriveId('organization', 2), deriveId('webhook', 1), deriveId('webhook', 2)];
const TYPED = { tag: 'März', task_names: { import: 'in', convert: 'make', export: 'out' }, ignored_options: ['depth'] };

describe('what is sealed of a webhook endpoint (D57)', () => {
  const key = createSecretKey(randomBytes(32));

  const kinds: Readonly<Record<string, { readonly value: unknown; readonly seal: () => string; readonly open: (organizationId: string, id: string, text: string) => unknown }>> = {
    'URL and description': { value: { url: 'https://a.example/ü', description: 'x' }, seal: () => sealWebhookDetails(key, ORGANIZATION, ID, { url: 'https://a.example/ü', description: 'x' }), open: (...place) => openWebhookDetails(key, ...place) },
    'a URL alone': { value: { url: 'https://a.example' }, seal: () => sealWebhookDetails(key, ORGANIZATION, ID, { url: 'https://a.example' }), open: (...place) => openWebhookDetails(key, ...place) },
    'a secret': { value: 'whsec_x', seal: () => sealWebhookSecret(key, ORGANIZATION, ID, 'whsec_x'), open: (...place) => openWebhookSecret(key, ...place) },
    'what a client typed into a job': { value: TYPED, seal: () => sealDeliveryTyped(key, ORGANIZATION, ID, TYPED), open: (...place) => openDeliveryTyped(key, ...place) },
  };
  for (const [what, kind] of Object.entries(kinds)) {
    it(`opens ${what} where it belongs and nowhere else`, () => {
      const text = kind.seal();
      expect(sealed.safeParse(text).success).to.equal(true);
      expect(kind.open(ORGANIZATION, ID, text)).to.deep.equal(kind.value);
      expect(() => kind.open(OTHER_ORGANIZATION, ID, text)).to.throw(Defect);
      expect(() => kind.open(ORGANIZATION, OTHER_ID, text)).to.throw(Defect);
      expect(() => kind.open(ORGANIZATION, ID, `${text}AAAA`)).to.throw(Defect);
    });
  }

  it('does not take one field for another, nor what has another shape', () => {
    const secret = sealWebhookSecret(key, ORGANIZATION, ID, 'whsec_x');
    expect(() => openWebhookDetails(key, ORGANIZATION, ID, secret)).to.throw(Defect);
    expect(() => openWebhookSecret(key, ORGANIZATION, ID, seal(key, 7, `${ORGANIZATION}|${ID}|secret`))).to.throw(Defect);
  });

  it('keeps of what a client typed only what the body of a delivery shows', () => {
    const more = { ...TYPED, options: { password: 'hunter2' } };
    expect(openDeliveryTyped(key, ORGANIZATION, ID, sealDeliveryTyped(key, ORGANIZATION, ID, more))).to.deep.equal(TYPED);
  });

  it('lies under a key that an id of ours names', () => {
    expect(webhookKeyName(ID)).to.equal(`webhook.${ID}`);
    expect(() => webhookKeyName('a.b')).to.throw(Defect);
  });
});
