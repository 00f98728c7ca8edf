import { createHash } from 'node:crypto';
import type { EventData } from '../../../shared/events/registry.ts';

/** What a test job has for a source: nothing was fetched, so it is empty, and nothing is stored (D65, D94). */
export const SIMULATED_SOURCE: EventData<'job.source_received'> = {
  size_bytes: 0,
  sha256: createHash('sha256').digest('hex'),
  etag: createHash('md5').digest('hex'),
};
