import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { ConfigurationError, Defect } from '../../shared/errors/errors.ts';
import { sealed as sealedField, sha256 } from '../../shared/events/fields.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { open, seal } from '../../shared/privacy/seal.ts';
import { tagHmac } from '../../shared/privacy/tag-hmac.ts';
import { unwrapKey, wrapKey } from '../../shared/privacy/wrap.ts';

const KEY_TEXT = Buffer.alloc(32, 7).toString('base64');

describe('a sealed field', () => {
  const key = createSecretKey(randomBytes(32));
  const typed = { tag: 'Grüße 🎉', options: { quality: 80, nothing: null }, names: ['a', 'b'] };

  it('opens to what was sealed, and has the form of a sealed field', () => {
    const text = seal(key, typed, 'org|job|typed');
    expect(sealedField.safeParse(text).success).to.equal(true);
    expect(open(key, text, 'org|job|typed')).to.deep.equal(typed);
  });

  it('is another text each time, so that equal values do not show', () => {
    expect(seal(key, typed, 'place')).to.not.equal(seal(key, typed, 'place'));
  });

  it('opens for no other key and no other place', () => {
    const text = seal(key, typed, 'org|job|typed');
    expect(() => open(createSecretKey(randomBytes(32)), text, 'org|job|typed')).to.throw(Defect);
    expect(() => open(key, text, 'org|other|typed')).to.throw(Defect);
  });

  it('does not open when any character of it was altered', () => {
    const text = seal(key, { tag: 'x' }, 'place');
    for (let index = 0; index < text.length; index += 1) {
      // Bit 5 of a base64url digit always carries data, also in the last digit.
      const altered = text.slice(0, index) + (/[A-Za-f]/.test(text.charAt(index)) ? '9' : 'A') + text.slice(index + 1);
      expect(() => open(key, altered, 'place'), `character ${index}`).to.throw(Defect);
    }
  });

  it('does not open when it is cut, extended or no sealed field at all', () => {
    const text = seal(key, { tag: 'x' }, 'place');
    for (const other of ['', 'v1', 'v1..', 'v2' + text.slice(2), text.slice(0, -4), `${text}.AAAA`, `${text}AAAA`]) expect(() => open(key, other, 'place')).to.throw(Defect);
  });
});

describe('the master key', () => {
  const masterKey = openMasterKey(KEY_TEXT);
  const other = openMasterKey(Buffer.alloc(32, 8).toString('base64'));

  it('gives every purpose another key, and the same one each time', () => {
    const keys = (['file-links', 'data-keys', 'tags'] as const).map((purpose) => masterKey.derive(purpose).export().toString('hex'));
    expect(new Set(keys)).to.have.lengthOf(3);
    expect(openMasterKey(KEY_TEXT).derive('tags').equals(masterKey.derive('tags'))).to.equal(true);
    expect(other.kid).to.not.equal(masterKey.kid);
  });

  it('is not shown by whatever prints it', () => {
    const secret = Buffer.alloc(32, 7);
    for (const shown of [inspect(masterKey, { depth: 9, showHidden: true }), JSON.stringify(masterKey)]) {
      expect(shown).to.not.contain(KEY_TEXT).and.not.contain(secret.toString('hex'));
    }
  });

  it('must be 32 bytes', () => {
    for (const text of ['', 'short', Buffer.alloc(31).toString('base64')]) expect(() => openMasterKey(text)).to.throw(ConfigurationError, 'MASTER_KEY');
  });

  it('wraps a key for one name', () => {
    const key = createSecretKey(randomBytes(32));
    const wrapped = wrapKey(masterKey, 'job.a', key);
    expect(unwrapKey(masterKey, 'job.a', wrapped).equals(key)).to.equal(true);
    expect(() => unwrapKey(masterKey, 'job.b', wrapped)).to.throw(Defect);
    expect(() => unwrapKey(other, 'job.a', wrapped)).to.throw(ConfigurationError, other.kid);
    expect(() => unwrapKey(masterKey, 'job.a', 'v9.x.y.z')).to.throw(Defect);
  });
});

describe('the HMAC of a tag', () => {
  const masterKey = openMasterKey(KEY_TEXT);

  it('is the same for the same organization and tag only', () => {
    const organizationId = randomUUID();
    const hmac = tagHmac(masterKey, organizationId, 'invoice');
    expect(sha256.safeParse(hmac).success).to.equal(true);
    expect(tagHmac(masterKey, organizationId, 'invoice')).to.equal(hmac);
    expect(tagHmac(masterKey, organizationId, 'Invoice')).to.not.equal(hmac);
    expect(tagHmac(masterKey, randomUUID(), 'invoice')).to.not.equal(hmac);
  });

  it('stays what it was, because lists of old jobs are filtered by it', () => {
    expect(tagHmac(masterKey, '00000000-0000-8000-8000-000000000000', 'tag')).to.equal('a906e0d8b44c98ed779d27ca5cbc3c1c34e388c9a736afa3a5ef9fe04c2c798d');
  });
});
