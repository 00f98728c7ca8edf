import { extensionOf, mimeOf, normalizeFormat } from '../domain/catalogue/formats.ts';
import { expiresAt } from '../domain/job-view.ts';
import type { LiveJob } from '../domain/job-state.ts';
import { Defect } from '../errors/errors.ts';
import { resultKey } from './keys.ts';
import type { ObjectStore } from './object-store.ts';

/** Media types that a browser would run or hand to a plug-in; they are saved, never shown (D92). */
const SAVED_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml', 'image/svg+xml', 'application/xml', 'text/xml', 'application/pdf']);

/** URL of the result of a job, always the same one (D19); undefined unless it is there. */
export async function resultUrlOf(objects: ObjectStore, jobId: string, job: LiveJob): Promise<string | undefined> {
  if (job.status !== 'finished' || !job.finish) return undefined;
  const format = normalizeFormat(job.created.output_format);
  if (format === undefined) throw new Defect('a job was converted to a format that nobody knows');
  const contentType = mimeOf(format);
  const kind = SAVED_TYPES.has(contentType) ? 'attachment' : 'inline';
  return await objects.signDownload(resultKey(jobId, job.finish.attempt), {
    expiresAtMs: Date.parse(expiresAt(job)),
    contentType,
    disposition: `${kind}; filename="${jobId}.${extensionOf(format)}"`,
  });
}
