/** Shortest time between two reports of an attempt, in ms; also before the first, so that short conversions make none. */
export const REPORT_MS_MIN = 5_000;
/** Percent by which a report is above the one before: with it an attempt makes at most twenty, however long it takes. */
export const REPORT_STEP_MIN = 5;
/** The last percent is the end itself. */
const PERCENT_MAX = 99;

/** What the reports of one attempt go through. */
export type ProgressDesk = {
  /** Appends a report; false when the attempt does not own the conversion any more. */
  readonly report: (percent: number) => Promise<boolean>;
  /** Told when the first report of the attempt could not be appended; the conversion goes on without. */
  readonly onFailure: (error: unknown) => void;
  readonly nowMs: () => number;
};

/**
 * Lets through what an engine says of its progress as often as is worth an event. It never waits and never throws: how far
 * a conversion is must not decide how it ends.
 */
export function throttleProgress({ report, onFailure, nowMs }: ProgressDesk): (percent: number) => void {
  let lastMs = nowMs();
  let lastPercent = 0;
  let state: 'idle' | 'reporting' | 'over' = 'idle';
  let hasFailed = false;
  return (percent) => {
    const whole = Math.min(Math.floor(percent), PERCENT_MAX);
    // Also false for what is no number.
    const isWorthIt = whole >= lastPercent + REPORT_STEP_MIN && nowMs() - lastMs >= REPORT_MS_MIN;
    if (!isWorthIt || state !== 'idle') return;
    [lastMs, lastPercent, state] = [nowMs(), whole, 'reporting'];
    report(whole).then(
      (isOurs) => (state = isOurs ? 'idle' : 'over'),
      (error: unknown) => {
        state = 'idle';
        if (!hasFailed) onFailure(error);
        hasFailed = true;
      },
    );
  };
}
