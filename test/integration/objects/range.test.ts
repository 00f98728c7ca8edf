import { expect } from 'chai';
import { parseRange } from '../../../shared/objects/range.ts';

describe('the Range header', () => {
  const cases: readonly (readonly [string | undefined, number, ReturnType<typeof parseRange>])[] = [
    [undefined, 10, undefined],
    ['bytes=0-3', 10, { start: 0, end: 3 }],
    ['Bytes=2-2', 10, { start: 2, end: 2 }],
    ['bytes=4-', 10, { start: 4, end: 9 }],
    ['bytes=4-999', 10, { start: 4, end: 9 }],
    ['bytes=-3', 10, { start: 7, end: 9 }],
    ['bytes=-30', 10, { start: 0, end: 9 }],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=10-12', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-5', 0, 'unsatisfiable'],
    ['bytes=5-4', 10, undefined],
    ['bytes=-', 10, undefined],
    ['bytes=0-1,3-4', 10, undefined],
    ['bytes=a-b', 10, undefined],
    ['bytes=0x1-2', 10, undefined],
    ['lines=0-3', 10, undefined],
    ['bytes=99999999999999999999-', 10, undefined],
  ];
  for (const [header, sizeBytes, expected] of cases) {
    it(`${header ?? 'none'} of ${sizeBytes} bytes is ${JSON.stringify(expected) ?? 'the whole body'}`, () => {
      expect(parseRange(header, sizeBytes)).to.deep.equal(expected);
    });
  }
});
