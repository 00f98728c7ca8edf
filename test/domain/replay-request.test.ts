import { expect } from 'chai';
import { replayBody } from '../../services/api/webhooks/request-schema.ts';

const sinceOf = (since: string): string | undefined => replayBody.safeParse({ since }).data?.since;

describe('The time of a request to replay (§6 delivery 4)', () => {
  it('is taken with any zone, and to the millisecond', () => {
    expect(sinceOf('2026-11-21T09:30:00+02:00')).to.equal('2026-11-21T07:30:00.000Z');
    expect(sinceOf('2026-11-21T09:30:00.123456789Z')).to.equal('2026-11-21T09:30:00.123Z');
    expect(sinceOf('0001-01-01T00:00:00Z')).to.equal('0001-01-01T00:00:00.000Z');
    expect(sinceOf('9999-12-31T23:59:59Z')).to.equal('9999-12-31T23:59:59.000Z');
  });

  it('is refused where its year, or the one its zone makes of it, is none that the read model knows (§7 validation_failed 400)', () => {
    for (const since of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '0000-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00', '2026-02-31T00:00:00Z', '2026-11-21', '']) {
      expect(sinceOf(since), since).to.equal(undefined);
    }
  });
});
