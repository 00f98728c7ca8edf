import { z } from 'zod';
import { engineVersion, time } from '../events/fields.ts';

/** Bucket in which every converter that runs says what it can do; one key for each process. */
export const ENGINES_BUCKET = 'ENGINES';
/** How often a converter says it anew, in ms. */
export const ANNOUNCE_MS = 5_000;
/**
 * A converter counts as gone when others have announced themselves for this long, in ms, and it has not: several
 * announcements, so that one that is restarted, or cut off for a moment, takes no conversion off the list.
 */
export const SILENT_MS_MAX = 30_000;
/** What was announced is forgotten after this time, in ms: by then nobody can say any more what will ever be converted here. */
export const ANNOUNCED_KEPT_MS = 7 * 24 * 3_600_000;

/** What a converter says of itself: the tools that passed their self-test, and their versions. A later release may have tools unknown here. */
export const announcement = z.object({ tools: z.record(z.string(), engineVersion), announced_at: time });
export type Announcement = z.infer<typeof announcement>;
