import { expect } from 'chai';
import { REPORT_MS_MIN, REPORT_STEP_MIN, throttleProgress } from '../../services/converter/progress.ts';

/** An answer that a test gives when it likes. */
type Open = { readonly percent: number; readonly answer: (isOurs: boolean) => void; readonly fail: () => void };

describe('what a converter says of its progress', () => {
  let nowMs: number;
  let reports: number[];
  let failures: number;
  let answer: () => Promise<boolean>;
  let tell: (percent: number) => void;

  beforeEach(() => {
    nowMs = 1_000_000;
    reports = [];
    failures = 0;
    answer = () => Promise.resolve(true);
    tell = throttleProgress({
      nowMs: () => nowMs,
      onFailure: () => (failures += 1),
      report: (percent) => {
        reports.push(percent);
        return answer();
      },
    });
  });

  /** Lets promises settle, so that the next word finds the last report answered. */
  async function tellAfter(ms: number, percent: number): Promise<void> {
    nowMs += ms;
    tell(percent);
    await Promise.resolve();
    await Promise.resolve();
  }

  it('is nothing in a conversion that is over before it is worth a word', async () => {
    for (let percent = 0; percent < 100; percent += 1) await tellAfter((REPORT_MS_MIN - 1) / 100, percent);
    expect(reports).to.deep.equal([]);
  });

  it('is at most twenty events, however long the conversion and however often the engine speaks', async () => {
    for (let step = 0; step <= 100_000; step += 1) await tellAfter(100, step / 1_000);
    expect(reports.length).to.be.within(10, 20);
    for (const [index, percent] of reports.entries()) expect(percent - (reports[index - 1] ?? 0)).to.be.at.least(REPORT_STEP_MIN);
  });

  it('comes no more often than every few seconds, however fast the conversion is', async () => {
    for (let second = 1; second <= 12; second += 1) await tellAfter(1_000, second * 8);
    expect(reports).to.deep.equal([40, 80]);
  });

  it('never falls, is whole, and is never the end itself', async () => {
    for (const percent of [33.9, 12, 33, 250, 99.9]) await tellAfter(REPORT_MS_MIN, percent);
    expect(reports).to.deep.equal([33, 99]);
  });

  it('is nothing where the engine says no number', async () => {
    for (const percent of [Number.NaN, -5, Number.NEGATIVE_INFINITY]) await tellAfter(REPORT_MS_MIN, percent);
    expect(reports).to.deep.equal([]);
  });

  it('waits for the answer to the report before', async () => {
    const open: Open[] = [];
    answer = () => new Promise((resolve, reject) => open.push({ percent: reports.at(-1) ?? 0, answer: resolve, fail: () => reject(new Error('away')) }));
    await tellAfter(REPORT_MS_MIN, 10);
    await tellAfter(REPORT_MS_MIN, 50);
    expect(reports).to.deep.equal([10]);
    open[0]?.answer(true);
    await Promise.resolve();
    await tellAfter(REPORT_MS_MIN, 60);
    expect(reports).to.deep.equal([10, 60]);
  });

  it('goes on when a report cannot be made, and complains once', async () => {
    answer = () => Promise.reject(new Error('the log is away'));
    for (const percent of [10, 20, 30]) await tellAfter(REPORT_MS_MIN, percent);
    expect([reports, failures]).to.deep.equal([[10, 20, 30], 1]);
  });

  it('ends when another attempt owns the conversion (D37)', async () => {
    answer = () => Promise.resolve(false);
    for (const percent of [10, 20, 30]) await tellAfter(REPORT_MS_MIN, percent);
    expect(reports).to.deep.equal([10]);
  });
});
