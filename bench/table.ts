/** One line of a table. */
export type Row = readonly string[];

/** Prints rows as a Markdown table; the first is its head. */
export function print(rows: readonly Row[]): void {
  const [head = [], ...body] = rows;
  process.stdout.write(`\n| ${head.join(' | ')} |\n|${head.map(() => '---|').join('')}\n${body.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
}

/** How long some work took, in seconds. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}

/** The middle of some numbers; of an even count the higher of the two in the middle. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
