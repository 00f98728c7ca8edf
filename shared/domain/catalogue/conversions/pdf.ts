import type { Conversions } from './conversions.ts';

/** What the pdf engine converts. */
export const PDF_CONVERSIONS: readonly Conversions[] = [];
