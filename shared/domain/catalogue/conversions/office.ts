import type { Conversions } from './conversions.ts';

/** What the office engine converts. */
export const OFFICE_CONVERSIONS: readonly Conversions[] = [];
