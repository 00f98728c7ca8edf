import { expect } from 'chai';
import { CreditsBooks } from '../../../services/cli/audit/credits-books.ts';
import { IllegalEventError } from '../../../services/cli/audit/replay.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import type { CreditsEvent } from '../../../shared/events/registry.ts';

/** With a replay that copies what it knows for each event this many take minutes; otherwise seconds on a busy machine. */
const JOBS = 20_000;
const ORGANIZATION_ID = '0190a000-0000-7000-8000-000000000001';

describe('the books that the audit replays', function () {
  this.timeout(60_000);
  let books: CreditsBooks;
  let position = 0;
  beforeEach(() => ([books, position] = [new CreditsBooks(), 0]));

  function apply(event: CreditsEvent): void {
    position += 1;
    const stored = { aggregate: { kind: 'credits', id: ORGANIZATION_ID }, version: position, position, hash: '', event, envelope: { time: '2026-01-01T00:00:00.000Z' } };
    books.apply(stored as unknown as StoredEvent);
  }

  it('take as long for each event however many jobs the organization has', () => {
    apply({ type: 'credits.granted', data: { amount: JOBS } });
    for (let job = 0; job < JOBS; job += 1) {
      apply({ type: 'credits.held', data: { job_id: String(job), amount: 1 } });
      apply({ type: 'credits.charged', data: { job_id: String(job), amount: 1, held: 1, billable_ms: 1, speed_factor: 1, weight: 1 } });
    }
    const { sums, holds } = books.organizations.get(ORGANIZATION_ID) ?? {};
    expect(sums).to.deep.include({ granted: JOBS, held: 0, charged: JOBS });
    expect(holds?.size).to.equal(JOBS);
  });

  it('refuse what the rules would not have made, and stay as they were (D30)', () => {
    apply({ type: 'credits.granted', data: { amount: 2 } });
    apply({ type: 'credits.held', data: { job_id: 'a', amount: 2 } });
    apply({ type: 'credits.released', data: { job_id: 'a', amount: 2, reason: 'failed' } });
    const wrong: readonly CreditsEvent[] = [
      { type: 'credits.held', data: { job_id: 'a', amount: 1 } },
      { type: 'credits.released', data: { job_id: 'a', amount: 2, reason: 'failed' } },
      { type: 'credits.held', data: { job_id: 'b', amount: 3 } },
    ];
    for (const event of wrong) expect(() => apply(event)).to.throw(IllegalEventError);
    const { sums, holds } = books.organizations.get(ORGANIZATION_ID) ?? {};
    expect(sums).to.deep.include({ granted: 2, held: 0, charged: 0 });
    expect([...(holds ?? [])]).to.deep.equal([['a', { amount: 2, status: 'released', heldAtMs: Date.parse('2026-01-01T00:00:00.000Z'), position: 3 }]]);
  });
});
