import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { ToolState } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { FLAT_FILTERS, PDF_FILTERS } from './filters.ts';
import { findInstallation, OFFICE_PACKAGES } from './installation.ts';
import type { OfficePool } from './pool.ts';

/** Time in which the document of the probe must be converted, milliseconds; a cold disk takes its time. */
const PROBE_TIME_LIMIT_MS = 60_000;

/** Nobody's organization: no instance that has seen the probe's document is taken for another one's. */
const ORGANIZATION = 'probe';

/** A comment is in it, because a suite without its parts for the screen dies of one. */
const DOCUMENT = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:p>It works<office:annotation><dc:creator>nobody</dc:creator><text:p>a comment</text:p></office:annotation>.</text:p></office:text></office:body></office:document>
`;

/** Lets the suite convert a tiny document by the way that every document goes; never rejects. */
export async function probeOffice(pool: OfficePool, sandbox: Sandbox): Promise<ToolState> {
  if (findInstallation() === undefined) return missing('LibreOffice, or the system\'s own Python for it, is not installed');
  const job = await sandbox.openJob();
  try {
    await writeFile(join(job.path, 'probe.fodt'), DOCUMENT);
    const task = { organizationId: ORGANIZATION, job, source: 'probe.fodt', result: 'probe.pdf', importFilter: FLAT_FILTERS.writer, exportFilter: PDF_FILTERS.writer };
    await pool.convert(task, { sandbox, signal: new AbortController().signal, timeLimitMs: PROBE_TIME_LIMIT_MS });
    if (!(await readFile(join(job.path, 'probe.pdf'))).subarray(0, 5).equals(Buffer.from('%PDF-'))) return missing('the result of the probe is no PDF');
    const { version, missingFilters } = pool.suite() ?? { version: '', missingFilters: [] };
    if (missingFilters.length > 0) return missing(`LibreOffice here lacks ${missingFilters.join(', ')}`);
    return { available: true, version: /^\d{1,6}(?:\.\d{1,6}){0,3}/.exec(version)?.[0] ?? '0' };
  } catch (error) {
    return missing(error instanceof EngineFailure ? `${error.code} ${error.operatorDetail}`.trim() : String(error));
  } finally {
    await sandbox.closeJob(job);
  }
}

function missing(what: string): ToolState {
  return { available: false, reason: `${what}; on Debian and Ubuntu the packages ${OFFICE_PACKAGES} bring it` };
}
