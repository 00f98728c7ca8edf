import type { Conversions } from './conversions.ts';

/** What the media engine converts. */
export const MEDIA_CONVERSIONS: readonly Conversions[] = [];
