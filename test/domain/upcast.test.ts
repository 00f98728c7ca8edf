import { expect } from 'chai';
import { z } from 'zod';
import { Defect } from '../../shared/errors/errors.ts';
import type { EventVersion } from '../../shared/events/registry.ts';
import { lift, upcast } from '../../shared/events/upcast.ts';

const versions: readonly EventVersion[] = [
  { schema: z.object({ size: z.int() }), upcast: (data) => ({ size_bytes: z.object({ size: z.int() }).parse(data).size * 1024 }) },
  { schema: z.object({ size_bytes: z.int() }), upcast: (data) => ({ ...z.object({ size_bytes: z.int() }).parse(data), counted: false }) },
  { schema: z.object({ size_bytes: z.int(), counted: z.boolean() }) },
];

describe('upcasting', () => {
  it('lifts the oldest version step by step to the latest', () => {
    expect(lift('test.event', versions, 1, { size: 2 })).to.deep.equal({ size_bytes: 2048, counted: false });
  });

  it('begins at the version that was stored', () => {
    expect(lift('test.event', versions, 2, { size_bytes: 5 })).to.deep.equal({ size_bytes: 5, counted: false });
    expect(lift('test.event', versions, 3, { size_bytes: 5, counted: true })).to.deep.equal({ size_bytes: 5, counted: true });
  });

  it('refuses data that does not fit the version it says', () => {
    expect(() => lift('test.event', versions, 2, { size: 2 })).to.throw(Defect, 'version 2');
  });

  it('refuses data of a version that newer code wrote', () => {
    expect(() => upcast('credits.held', 2, {})).to.throw(Defect, 'newer code');
  });

  it('refuses a type that is not registered, also one that every object has', () => {
    expect(() => upcast('credits.minted', 1, {})).to.throw(Defect, 'not registered');
    expect(() => upcast('constructor', 1, {})).to.throw(Defect, 'not registered');
  });
});
