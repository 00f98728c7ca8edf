/** Reads what `-progress` prints and tells how far a conversion is. */
export interface ProgressReader {
  /** To be given what ffmpeg prints, as it comes. */
  readonly read: (text: string) => void;
  /** How much of the result has been written, seconds. */
  readonly seconds: () => number;
}

const MICROSECONDS = 1_000_000;

/** Characters of an unfinished line that are kept; ffmpeg's lines are shorter than 40. */
const LINE_MAX = 1_000;

/** Follows a conversion that will write `total` seconds; whole percent from 1 to 99 are told, each once and rising. */
export function readProgress(total: number | undefined, onProgress: (percent: number) => void): ProgressReader {
  let rest = '';
  let seconds = 0;
  let told = 0;
  const take = (line: string): void => {
    const found = /^out_time_us=(\d{1,15})$/.exec(line.trim())?.[1];
    if (found === undefined) return;
    seconds = Math.max(seconds, Number(found) / MICROSECONDS);
    const percent = total === undefined ? 0 : Math.min(99, Math.floor((seconds / total) * 100));
    if (percent <= told) return;
    told = percent;
    onProgress(percent);
  };
  return {
    read: (text) => {
      const lines = (rest + text).split('\n');
      rest = (lines.pop() ?? '').slice(-LINE_MAX);
      lines.forEach(take);
    },
    seconds: () => seconds,
  };
}
