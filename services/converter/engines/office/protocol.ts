import { z } from 'zod';

/** The first line that a worker reads: how to start its suite. Paths are relative to its folder. */
export interface StartOrder {
  readonly soffice: string;
  readonly profile: string;
  readonly temp: string;
  /** Name of the pipe between worker and suite; no other on this machine may have it. */
  readonly pipe: string;
  /** Filters that must be there; one of each component of the suite. */
  readonly filters: readonly string[];
  /** Whether it loads what the first document needs before it says that it is ready. */
  readonly warm_up: boolean;
}

/** Values of a filter's own settings; names and values are ours, never a client's. */
export type FilterData = Readonly<Record<string, string | number | boolean>>;

/** What every page of a text or spreadsheet is to be like. */
export interface PageStyle {
  /** Short and long side in hundredths of a millimetre. */
  readonly paper?: readonly [number, number];
  readonly landscape?: boolean;
  /** All columns on one page; for spreadsheets. */
  readonly fit_to_width?: boolean;
}

/** First and last of a range of pages, counted from 1; null is the last one of the document. */
export type PageNumbers = readonly [number, number | null];

/** A line that names one document. */
export interface ConvertOrder {
  readonly kind: 'convert';
  /** Folder of the job, inside the worker's. */
  readonly folder: string;
  readonly source: string;
  readonly result: string;
  readonly import_filter: string;
  readonly import_options?: string;
  readonly password?: string;
  readonly export_filter: string;
  readonly export_options?: string;
  readonly export_data?: FilterData;
  readonly result_password?: string;
  /** Write only this sheet, counted from 1. */
  readonly sheet?: number;
  readonly page_style?: PageStyle;
  /** Count the pages, and refuse a document with more. */
  readonly pages_max?: number;
  /** Write only these; null is the last page. Needs `pages_max`. */
  readonly page_ranges?: readonly PageNumbers[];
}

/** A line that lets the worker remove the folder of a job; only it may, because a file may have taken over its user. */
export interface ForgetOrder {
  readonly kind: 'forget';
  readonly folder: string;
}

/** The only causes a worker knows; `password` is also the answer to a wrong one. */
const causes = z.enum(['damaged', 'password', 'too_many_pages', 'page_not_found', 'sheet_not_found', 'not_stored']);

const bytes = z.int().min(0);

/** What a worker says, one line each; read like anything from outside, because a file may have taken it over. */
export const workerAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), version: z.string().max(100), missing_filters: z.array(z.string().max(100)).max(100) }),
  z.object({ kind: z.literal('converted'), memory_bytes: bytes }),
  z.object({ kind: z.literal('failed'), cause: causes, memory_peak_bytes: bytes, detail: z.string().max(1_000) }),
  z.object({ kind: z.literal('forgotten') }),
  /** Negative for a signal, null when it never came up. */
  z.object({ kind: z.literal('died'), returncode: z.int().min(-128).max(255).nullable() }),
]);

/** One of the things a worker says. */
export type WorkerAnswer = z.infer<typeof workerAnswer>;
