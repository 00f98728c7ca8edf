/**
 * The programs and libraries that conversions are made with. A pair is offered where all of its tools passed their
 * self-test; which are there is found out by each converter at its start and told to the api. `texts` is our own program
 * for texts, pages, books and csv.
 */
export const TOOL_NAMES = ['sharp', 'libheif', 'pdfkit', 'ffmpeg', 'libreoffice', 'poppler', 'qpdf', 'texts'] as const;

/** One of `TOOL_NAMES`. */
export type ToolName = (typeof TOOL_NAMES)[number];

/** The families of conversions; each is one module of the converter. */
export const ENGINE_NAMES = ['image', 'pdf', 'office', 'media'] as const;

/** One of `ENGINE_NAMES`. */
export type EngineName = (typeof ENGINE_NAMES)[number];

/** The queues of the converter: each has slots and a consumer of its own, so that a film never holds up a thumbnail. */
export const LANES = ['images', 'office', 'media'] as const;

/** One of `LANES`. */
export type Lane = (typeof LANES)[number];

/** Which queue an engine's conversions wait in. */
export const LANE_OF: Readonly<Record<EngineName, Lane>> = { image: 'images', pdf: 'office', office: 'office', media: 'media' };
