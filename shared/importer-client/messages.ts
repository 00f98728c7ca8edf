import { z } from 'zod';
import { id } from '../events/fields.ts';

/** Subjects on which importers answer, and the group in which each request goes to one of them. */
export const OBSERVE_SUBJECT = 'importer.observe';
export const IMPORTER_READY_SUBJECT = 'importer.ready';
export const IMPORTER_QUEUE = 'importer';

/** Asks to look now whether the file of a waiting upload job is there (D32). */
export const observeRequest = z.object({ job_id: id });
export type ObserveRequest = z.infer<typeof observeRequest>;

/**
 * What a look found. `observed`: the file is bound to the job, which goes on; `refused`: the file was not what the job
 * needs, which ended it; `absent`: no whole file is there yet; `not_waiting`: the job waits for no upload (any more).
 */
const observation = z.enum(['observed', 'refused', 'absent', 'not_waiting']);
export type Observation = z.infer<typeof observation>;

/** Every answer to a request to look. */
export const observeReply = z.union([
  z.object({ ok: z.literal(true), status: observation }),
  z.object({ ok: z.literal(false), code: z.enum(['unavailable', 'bad_request']) }),
]);
export type ObserveReply = z.infer<typeof observeReply>;

/** Answer to the question whether an importer is at work. */
export const importerReadyReply = z.object({ ok: z.boolean() });
