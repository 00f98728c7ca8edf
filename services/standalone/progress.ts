/** Tells the person at the terminal how the start goes. Service logs are JSON lines; these are sentences. */
export interface Progress {
  readonly say: (line: string) => void;
  /** Runs one step and says its name and how long it took. */
  readonly step: <T>(name: string, run: () => Promise<T>) => Promise<T>;
}

/** Progress as lines of text. */
export function createProgress(write: (text: string) => void): Progress {
  const say = (line: string): void => write(`${line}\n`);
  return {
    say,
    step: async (name, run) => {
      const startedMs = performance.now();
      const result = await run();
      say(`${name} … ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
      return result;
    },
  };
}
