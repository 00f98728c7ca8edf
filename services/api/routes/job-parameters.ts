import { z } from 'zod';

/** The job in the path. */
export const jobParameters = z.object({ job_id: z.uuid().describe('Job identifier. One that is not a UUID is answered with 404.') });
