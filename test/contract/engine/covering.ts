import type { Pair } from '../../../shared/domain/catalogue/pairs.ts';

/**
 * As few of the pairs as hold every input and every output at least once; `npm run test:engines` goes through all of
 * them.
 */
export function coveringPairs(pairs: readonly Pair[]): readonly Pair[] {
  const chosen: Pair[] = [];
  const inputs = new Set<string>();
  const outputs = new Set<string>();
  const gain = ({ input, output }: Pair): number => Number(!inputs.has(input)) + Number(!outputs.has(output));
  // A format to itself shows least: it may be taken as it is.
  const changing = pairs.filter(({ input, output }) => input !== output);
  for (const [candidates, wanted] of [[changing, 2], [changing, 1], [pairs, 1]] as const) {
    for (const pair of candidates) {
      if (gain(pair) < wanted) continue;
      chosen.push(pair);
      inputs.add(pair.input);
      outputs.add(pair.output);
    }
  }
  return chosen;
}
