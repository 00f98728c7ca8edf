import { expect } from 'chai';
import { z } from 'zod';
import { id, sealed } from '../../shared/events/fields.ts';
import { EVENT_VERSIONS, type EventVersion } from '../../shared/events/registry.ts';
import { findFreeStrings } from '../support/free-strings.ts';

describe('fields of events (D88)', () => {
  for (const [type, versions] of Object.entries(EVENT_VERSIONS) as [string, readonly EventVersion[]][]) {
    for (const [index, { schema }] of versions.entries()) {
      it(`${type} version ${index + 1} has no place for a client's text but a sealed field`, () => {
        expect(findFreeStrings(schema)).to.deep.equal([]);
      });
    }
  }

  const planted: Readonly<Record<string, z.ZodType>> = {
    'a free string': z.object({ reason: z.string() }),
    'a free string with a limit': z.object({ reason: z.string().max(10) }),
    'a free string that calls itself an id': z.object({ reason: z.string().meta({ kind: 'id' }) }),
    'a free string of a kind that nobody knows': z.object({ reason: z.string().meta({ kind: 'comment' }) }),
    'a free string that may be absent': z.object({ reason: z.string().optional() }),
    'a free string inside an object': z.object({ reason: z.object({ text: z.string() }) }),
    'a free string in a list': z.object({ reason: z.array(z.string()) }),
    'a free string as an alternative': z.object({ reason: z.union([id, z.string()]) }),
    'free keys': z.object({ reason: z.record(z.string(), z.int()) }),
    'anything at all': z.object({ reason: z.unknown() }),
    'an open object': z.looseObject({ reason: id }),
  };
  for (const [name, schema] of Object.entries(planted)) {
    it(`finds ${name}`, () => {
      expect(findFreeStrings(schema)).to.have.length(1);
    });
  }

  it('lets known kinds, choices and numbers pass', () => {
    const schema = z.object({ by: id.optional(), typed: sealed, why: z.enum(['a', 'b']), is: z.literal('x'), count: z.int(), list: z.array(id) });
    expect(findFreeStrings(schema)).to.deep.equal([]);
  });
});
