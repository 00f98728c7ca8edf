/** What a format is, as far as pricing is concerned (§2.7). */
export type Category = 'image' | 'document' | 'spreadsheet' | 'presentation' | 'pdf' | 'audio' | 'video' | 'iwork';

interface Format {
  /** Other spellings that clients use for the same format (D21). */
  readonly aliases: readonly string[];
  /** The Content-Type under which results are served (§2.2). */
  readonly mime: string;
  readonly category: Category;
  /** File name extension of a result, without the dot. */
  readonly extension: string;
}

/** Every format that an engine reads or writes. An engine that joins adds its rows here and to `CONVERSIONS`. */
export const FORMATS = {
  avif: { aliases: [], mime: 'image/avif', category: 'image', extension: 'avif' },
  gif: { aliases: [], mime: 'image/gif', category: 'image', extension: 'gif' },
  jpg: { aliases: ['jpeg', 'jpe', 'jfif'], mime: 'image/jpeg', category: 'image', extension: 'jpg' },
  png: { aliases: [], mime: 'image/png', category: 'image', extension: 'png' },
  svg: { aliases: [], mime: 'image/svg+xml', category: 'image', extension: 'svg' },
  tiff: { aliases: ['tif'], mime: 'image/tiff', category: 'image', extension: 'tiff' },
  webp: { aliases: [], mime: 'image/webp', category: 'image', extension: 'webp' },
} as const satisfies Record<string, Format>;

/** The one spelling of a format inside the service. */
export type FormatName = keyof typeof FORMATS;

/** All formats, in alphabetical order. */
export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[];

interface Conversions {
  readonly engine: string;
  readonly inputs: readonly FormatName[];
  readonly outputs: readonly FormatName[];
  /** Reference conversion-minutes that a job of this family is never charged above. */
  readonly minutes_max: number;
}

/**
 * Which engine turns what into what: each input of a row into each of its outputs. The image row holds all that the
 * prebuilt sharp decodes and encodes; the same format to itself is listed, because people resize and recompress (D22).
 */
const CONVERSIONS: readonly Conversions[] = [
  {
    engine: 'image',
    inputs: ['avif', 'gif', 'jpg', 'png', 'svg', 'tiff', 'webp'],
    outputs: ['avif', 'gif', 'jpg', 'png', 'tiff', 'webp'],
    minutes_max: 1,
  },
];

/** One supported conversion, as `GET /operations` lists it (§4.1). */
export interface Pair {
  readonly input: FormatName;
  readonly output: FormatName;
  /** Factor of the price (§2.7). */
  readonly weight: number;
  /** Credits held at creation and never exceeded by the charge; at least `weight` (D25). */
  readonly estimate: number;
  /** Name of the engine that converts it. */
  readonly engine: string;
}

const OFFICE: ReadonlySet<Category> = new Set(['document', 'spreadsheet', 'presentation', 'iwork']);

/** Weight of a conversion: PDF to Office 4, video to video and anything iWork 2, else 1; the highest wins (§2.7, D26). */
export function weightOf(input: Category, output: Category): number {
  if (input === 'pdf' && OFFICE.has(output)) return 4;
  if (input === 'video' && output === 'video') return 2;
  if (input === 'iwork' || output === 'iwork') return 2;
  return 1;
}

const SPELLINGS: ReadonlyMap<string, FormatName> = new Map(
  FORMAT_NAMES.flatMap((name) => [name, ...FORMATS[name].aliases].map((spelling) => [spelling, name] as const)),
);

/** The format that a client's spelling means, in any case and by any alias; undefined when no engine knows it (D21). */
export function normalizeFormat(text: string): FormatName | undefined {
  return SPELLINGS.get(text.toLowerCase());
}

const PAIRS: ReadonlyMap<string, Pair> = new Map(CONVERSIONS.flatMap(expand).map((pair) => [`${pair.input}>${pair.output}`, pair]));

function expand({ engine, inputs, outputs, minutes_max }: Conversions): Pair[] {
  return inputs.flatMap((input) =>
    outputs.map((output) => {
      const weight = weightOf(FORMATS[input].category, FORMATS[output].category);
      return { input, output, weight, estimate: minutes_max * weight, engine };
    }),
  );
}

/** The supported conversion between two formats, or undefined: then the answer is `unsupported_conversion` (§2.3, D22). */
export function findPair(input: FormatName, output: FormatName): Pair | undefined {
  return PAIRS.get(`${input}>${output}`);
}

/** Every supported conversion, by input, then output. */
export function listPairs(): readonly Pair[] {
  return [...PAIRS.values()];
}

/** The Content-Type of a format. */
export function mimeOf(format: FormatName): string {
  return FORMATS[format].mime;
}

/** The file name extension of a format, without the dot. */
export function extensionOf(format: FormatName): string {
  return FORMATS[format].extension;
}
