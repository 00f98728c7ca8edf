import type { Conversions } from './conversions/conversions.ts';
import { IMAGE_CONVERSIONS } from './conversions/image.ts';
import { MEDIA_CONVERSIONS } from './conversions/media.ts';
import { OFFICE_CONVERSIONS } from './conversions/office.ts';
import { PDF_CONVERSIONS } from './conversions/pdf.ts';
import { TEXT_CONVERSIONS } from './conversions/texts.ts';
import { minutesFor } from './estimates.ts';
import { FORMATS, type Category, type FormatName } from './formats.ts';
import type { EngineName, ToolName } from './tools.ts';

/** One conversion that the service knows, as `GET /operations` lists it where its tools are there (§4.1). */
export interface Pair {
  readonly input: FormatName;
  readonly output: FormatName;
  /** Factor of the price (§2.7). */
  readonly weight: number;
  /** Credits held at creation and never exceeded by the charge; at least `weight` (D25). */
  readonly estimate: number;
  /** The engine that converts it. */
  readonly engine: EngineName;
  /** Everything that it needs; the first is the one whose version stands in the log. */
  readonly tools: readonly [ToolName, ...ToolName[]];
  /** True where no faithful result can be promised. */
  readonly bestEffort: boolean;
}

const OFFICE: ReadonlySet<Category> = new Set(['document', 'spreadsheet', 'presentation', 'iwork']);
/** Formats of these kinds that no office suite calls its own. */
const NOT_OFFICE: ReadonlySet<FormatName> = new Set(['csv', 'epub', 'html', 'md', 'txt']);

/** Weight of a conversion: PDF to Office 4, video to video and anything iWork 2, else 1; the highest wins (§2.7, D26). */
export function weightOf(input: FormatName, output: FormatName): number {
  const [from, to] = [FORMATS[input].category, FORMATS[output].category];
  if (from === 'pdf' && OFFICE.has(to) && !NOT_OFFICE.has(output)) return 4;
  if (from === 'video' && to === 'video') return 2;
  if (from === 'iwork' || to === 'iwork') return 2;
  return 1;
}

const PAIRS: ReadonlyMap<string, Pair> = new Map(
  [...IMAGE_CONVERSIONS, ...PDF_CONVERSIONS, ...OFFICE_CONVERSIONS, ...TEXT_CONVERSIONS, ...MEDIA_CONVERSIONS].flatMap(expand).map((pair) => [`${pair.input}>${pair.output}`, pair]),
);

function expand({ engine, tools, inputs, outputs, toItself = false, bestEffort = false }: Conversions): Pair[] {
  return inputs.flatMap((input) =>
    outputs
      .filter((output) => toItself || output !== input)
      .map((output) => {
        const weight = weightOf(input, output);
        return { input, output, weight, estimate: minutesFor(FORMATS[input].category, FORMATS[output].category) * weight, engine, tools, bestEffort };
      }),
  );
}

/** The conversion between two formats, or undefined: then the answer is `unsupported_conversion` (§2.3, D22). */
export function findPair(input: FormatName, output: FormatName): Pair | undefined {
  return PAIRS.get(`${input}>${output}`);
}

/** Every conversion of the catalogue. */
export function listPairs(): readonly Pair[] {
  return [...PAIRS.values()];
}
