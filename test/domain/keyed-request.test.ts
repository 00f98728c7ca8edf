import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson } from '../../services/api/idempotency/canonical-json.ts';
import { keyedRequest } from '../../services/api/idempotency/keyed-request.ts';
import { newId } from '../../shared/ids/ids.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';

describe('two bodies are the same (D80)', () => {
  const SAME: readonly (readonly [string, string, string])[] = [
    ['in another order and spacing', '{"b":[1,2],"a":{"d":1,"c":2}}', ' {\n"a" : {"c":2, "d":1},\t"b":[ 1 ,2 ] }'],
    ['with a number spelled otherwise', '{"a":[1,100,-0,0.5]}', '{"a":[1.0,1e2,0,5e-1]}'],
    ['with a text spelled otherwise', '{"\\u0061":"\\u00e9\\/\\ud83d\\ude00"}', '{"a":"é/😀"}'],
    ['with names that look like numbers', '{"2":1,"10":2,"a":3}', '{"a":3,"10":2,"2":1}'],
    ['with names like the insides of JavaScript', '{"__proto__":{"a":1},"constructor":2}', '{"constructor":2,"__proto__":{"a":1}}'],
    ['with a member given twice, of which the last counts', '{"a":1,"a":2}', '{"a":2}'],
  ];
  for (const [how, one, other] of SAME) {
    it(how, () => {
      expect(canonicalJson(JSON.parse(one))).to.equal(canonicalJson(JSON.parse(other)));
    });
  }

  const DIFFERENT: readonly (readonly [string, string, string])[] = [
    ['the order in an array', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['a number and its text', '{"a":1}', '{"a":"1"}'],
    ['null and nothing', '{"a":null}', '{}'],
    ['null and a number that is too large', '{"a":null}', '{"a":1e400}'],
    ['empty object and empty array', '{"a":{}}', '{"a":[]}'],
    ['an accent composed in another way', '{"a":"é"}', '{"a":"e\\u0301"}'],
    ['a member that is called __proto__', '{"__proto__":1}', '{}'],
    ['where a quote stands', '{"a\\":\\"b":1}', '{"a":"b:1"}'],
  ];
  for (const [what, one, other] of DIFFERENT) {
    it(`but not when they differ in ${what}`, () => {
      expect(canonicalJson(JSON.parse(one))).not.to.equal(canonicalJson(JSON.parse(other)));
    });
  }

  it('exactly when they hold the same values, whatever the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).to.equal(text);
        expect(canonicalJson(reversed(value))).to.equal(text);
        expect(JSON.parse(text)).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('what is kept of an Idempotency-Key', () => {
  const masterKey = openMasterKey(randomBytes(32).toString('base64'));
  const [keyId, otherId] = [newId(0), newId(0)];
  const body = { a: 1 };

  it('is the same for the same API key, value and body', () => {
    const [one, other] = [keyedRequest(masterKey, keyId, 'k', body), keyedRequest(masterKey, keyId, 'k', { a: 1 })];
    expect([other.place, other.mark]).to.deep.equal([one.place, one.mark]);
    expect(other.sealKey.equals(one.sealKey)).to.equal(true);
  });

  it('differs with the API key, the value, the master key, and with the body in the fingerprint alone (D79)', () => {
    const one = keyedRequest(masterKey, keyId, 'k', body);
    const others = [keyedRequest(masterKey, otherId, 'k', body), keyedRequest(masterKey, keyId, 'K', body), keyedRequest(openMasterKey(randomBytes(32).toString('base64')), keyId, 'k', body)];
    for (const other of others) {
      expect(other.mark.key_hash).not.to.equal(one.mark.key_hash);
      expect(other.mark.fingerprint).not.to.equal(one.mark.fingerprint);
      expect(other.sealKey.equals(one.sealKey)).to.equal(false);
    }
    const otherBody = keyedRequest(masterKey, keyId, 'k', { a: 2 });
    expect([otherBody.place, otherBody.mark.key_hash]).to.deep.equal([one.place, one.mark.key_hash]);
    expect(otherBody.mark.fingerprint).not.to.equal(one.mark.fingerprint);
  });
});

/** The same value with the members of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).toReversed().map(([name, member]) => [name, reversed(member)]));
}
