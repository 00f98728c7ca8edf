import { expect } from 'chai';
import { Observer } from '../../../services/importer/observer.ts';
import { nextLookAtMs } from '../../../services/importer/schedule.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import type { Observation } from '../../../shared/importer-client/messages.ts';
import { expectFailure } from '../../support/expect-failure.ts';

/** Looks that end when a test says so. */
class HeldLooks {
  readonly begun: string[] = [];
  readonly #ends: ((result: Observation | Error) => void)[] = [];

  readonly look = async (jobId: string): Promise<Observation> => {
    this.begun.push(jobId);
    return await new Promise((resolve, reject) => this.#ends.push((result) => (result instanceof Error ? reject(result) : resolve(result))));
  };

  async endNext(result: Observation | Error): Promise<void> {
    this.#ends.shift()?.(result);
    await settle();
  }
}

describe('looks in one importer', () => {
  it('answer all who ask while the file of a job is being looked at, with one look', async () => {
    const looks = new HeldLooks();
    const observer = new Observer(looks.look);
    const answers = Promise.all(Array.from({ length: 50 }, () => observer.observe('a')));
    await settle();
    await looks.endNext('observed');
    expect(new Set(await answers)).to.deep.equal(new Set(['observed']));
    expect(looks.begun).to.deep.equal(['a']);
  });

  it('are made once more for all who asked after a look began that found nothing', async () => {
    const looks = new HeldLooks();
    const observer = new Observer(looks.look);
    const first = observer.observe('a');
    await settle();
    const later = Promise.all([observer.observe('a'), observer.observe('a')]);
    await looks.endNext('absent');
    expect(await first).to.equal('absent');
    await looks.endNext('observed');
    expect(await later).to.deep.equal(['observed', 'observed']);
    expect(looks.begun).to.deep.equal(['a', 'a']);
  });

  it('are made for four jobs at once, and for the others in their order', async () => {
    const looks = new HeldLooks();
    const observer = new Observer(looks.look);
    const answers = ['a', 'b', 'c', 'd', 'e', 'f'].map((jobId) => observer.observe(jobId));
    await settle();
    expect(looks.begun).to.deep.equal(['a', 'b', 'c', 'd']);
    await looks.endNext('absent');
    expect(looks.begun).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    for (let left = 0; left < 5; left += 1) await looks.endNext('absent');
    expect(await Promise.all(answers)).to.have.length(6);
    await observer.idle();
  });

  it('that fail free their place, and the next one who asks looks anew', async () => {
    const looks = new HeldLooks();
    const observer = new Observer(looks.look);
    for (let round = 0; round < 10; round += 1) {
      const failing = expectFailure(observer.observe('a'), TransientError);
      await settle();
      await looks.endNext(new TransientError('storage', 'away'));
      await failing;
    }
    const answer = observer.observe('a');
    await settle();
    await looks.endNext('observed');
    expect(await answer).to.equal('observed');
    expect(looks.begun).to.have.length(11);
  });

  it('are refused when too many jobs wait for one', async () => {
    const looks = new HeldLooks();
    const observer = new Observer(looks.look);
    const waiting = Promise.allSettled(Array.from({ length: 2_004 }, (_, index) => observer.observe(`job ${index}`)));
    await expectFailure(observer.observe('one more'), TransientError);
    for (let left = 0; left < 2_004; left += 1) await looks.endNext('absent');
    expect((await waiting).every((outcome) => outcome.status === 'fulfilled')).to.equal(true);
  });
});

describe('looks that nobody asks for', () => {
  const createdMs = Date.parse('2026-01-01T00:00:00.000Z');
  const window = { created_at: '2026-01-01T00:00:00.000Z', upload_deadline_at: '2026-01-01T02:00:00.000Z' };

  it('come after two seconds, then rarer and rarer, at last every minute until the window is over', () => {
    const waits: number[] = [];
    for (let nowMs = createdMs, next = nextLookAtMs(window, nowMs); next !== undefined; nowMs = next, next = nextLookAtMs(window, nowMs)) waits.push(next - nowMs);
    expect(waits.slice(0, 5)).to.deep.equal([2_000, 2_000, 2_000, 3_000, 4_500]);
    expect(waits.at(-1)).to.equal(60_000);
    expect(waits.reduce((sum, wait) => sum + wait)).to.be.within(7_140_000, 7_199_999);
    expect(waits.length).to.be.below(140);
  });

  it('are not set beyond the window, nor after it', () => {
    expect(nextLookAtMs(window, Date.parse('2026-01-01T01:59:00.000Z'))).to.equal(undefined);
    expect(nextLookAtMs(window, Date.parse('2026-01-03T00:00:00.000Z'))).to.equal(undefined);
  });
});

/** Lets everything that can go on without us go on. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
