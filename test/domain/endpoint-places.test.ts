import { expect } from 'chai';
import { EndpointPlaces, type EndpointPlace, type Reached } from '../../services/notifier/endpoint-places.ts';

const TOTAL = 8;
const LATE_MS = 9_900;

describe('Places at webhook endpoints', () => {
  let elapsedMs: number;
  let places: EndpointPlaces;

  beforeEach(() => {
    elapsedMs = 0;
    places = new EndpointPlaces(TOTAL, { nowMs: () => 0 }, () => elapsedMs);
  });

  /** Takes what is free at once; a wait in memory is given up by the signal. */
  async function take(endpointId: string): Promise<EndpointPlace | undefined> {
    const giveUp = new AbortController();
    const taking = places.take(endpointId, giveUp.signal);
    giveUp.abort();
    return await taking;
  }

  async function attempt(endpointId: string, reached: Reached, lastsMs: number): Promise<void> {
    const place = await take(endpointId);
    elapsedMs += lastsMs;
    place?.giveBack(reached);
  }

  /** Takes as many as there are for it. */
  async function fill(endpointId: string): Promise<number> {
    let count = 0;
    while ((await take(endpointId)) !== undefined) count += 1;
    return count;
  }

  it('give an endpoint twice as many after each success, up to eight, and one after it could not be reached (§6)', async () => {
    for (const [successes, count] of [[0, 1], [1, 2], [3, 8], [5, 8]] as const) {
      places = new EndpointPlaces(TOTAL, { nowMs: () => 0 }, () => elapsedMs);
      for (let done = 0; done < successes; done += 1) await attempt('one', 'success', 10);
      expect(await fill('one'), `after ${successes}`).to.equal(count);
    }
    places = new EndpointPlaces(TOTAL, { nowMs: () => 0 }, () => elapsedMs);
    for (const reached of ['success', 'success', 'unreachable'] as const) await attempt('one', reached, 10);
    expect(await fill('one')).to.equal(1);
  });

  it('are left over for others, however many endpoints cannot be reached (§6)', async () => {
    for (let each = 0; each < 2 * TOTAL; each += 1) await attempt(`silent-${each}`, 'unreachable', LATE_MS);
    for (let each = 0; each < 2 * TOTAL; each += 1) await take(`silent-${each}`);
    expect(await take('healthy')).not.to.equal(undefined);
  });

  for (const reached of ['success', 'answer'] as const) {
    it(`are left over for others, however many endpoints keep us waiting until they give ${reached === 'success' ? 'a good' : 'a bad'} answer (§6)`, async () => {
      for (let each = 0; each < 2 * TOTAL; each += 1) for (let done = 0; done < 3; done += 1) await attempt(`late-${each}`, reached, LATE_MS);
      for (let each = 0; each < 2 * TOTAL; each += 1) await fill(`late-${each}`);
      expect(places.running).to.equal(6);
      expect(await take('healthy')).not.to.equal(undefined);
    });
  }

  it('are shared out by what the endpoint took, and not by what we took ourselves', async () => {
    for (let done = 0; done < 5; done += 1) {
      const place = await take('one');
      elapsedMs += LATE_MS;
      place?.giveBack('success', 10);
    }
    expect(await fill('one')).to.equal(TOTAL);
  });

  it('are given anew to an endpoint that answers in time again', async () => {
    for (let done = 0; done < 3; done += 1) await attempt('one', 'success', LATE_MS);
    for (let done = 0; done < 10; done += 1) await attempt('one', 'success', 10);
    expect(await fill('one')).to.equal(TOTAL);
  });

  it('put off what finds none for as long as those before it take, at most for half a minute, and for two where nobody answers', async () => {
    await attempt('prompt', 'success', 80);
    expect(longestPutOffMs('prompt', 100)).to.be.within(1_900, 3_100);
    expect(longestPutOffMs('prompt', 100_000)).to.be.within(29_000, 31_500);
    await attempt('silent', 'unreachable', LATE_MS);
    expect(longestPutOffMs('silent', 5)).to.be.within(39_000, 42_000);
    expect(longestPutOffMs('silent', 1_000)).to.be.within(119_000, 121_500);
  });

  /** Of so many that are put off after one another; the clock stands at 0. */
  function longestPutOffMs(endpointId: string, count: number): number {
    let longestMs = 0;
    for (let each = 0; each < count; each += 1) longestMs = Math.max(longestMs, places.putOffUntil(endpointId));
    return longestMs;
  }
});
