import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OfficePool, OfficeTask } from '../../services/converter/engines/office/pool.ts';
import type { Sandbox } from '../../services/converter/sandbox/sandbox.ts';
import { fixturePath } from './fixtures.ts';

/** Wall-clock limit of one conversion in tests; generous, because every file runs beside others on two processors. */
const TIME_LIMIT_MS = 40_000;

/** Two organizations that must never meet. */
export const ORGANIZATIONS = ['018f0000-0000-7000-8000-000000000001', '018f0000-0000-7000-8000-000000000002'] as const;

/** What a test tells about one document for the pool; by default it is `a-text.docx` to PDF. */
export interface PoolJob extends Partial<Omit<OfficeTask, 'job'>> {
  /** Name of a fixture, or the file itself. */
  readonly file?: string | Buffer;
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
}

/** Converts a file in a folder of its own; gives the result's bytes and the billable time. */
export async function convertInPool(sandbox: Sandbox, pool: OfficePool, poolJob: PoolJob = {}): Promise<{ readonly bytes: Buffer; readonly billableMs: number }> {
  const { file = 'a-text.docx', timeLimitMs = TIME_LIMIT_MS, signal = new AbortController().signal, ...task } = poolJob;
  const job = await sandbox.openJob();
  try {
    const path = join(job.path, 'source');
    await (typeof file === 'string' ? copyFile(fixturePath(file), path) : writeFile(path, file));
    const defaults = { organizationId: ORGANIZATIONS[0], source: 'source', result: 'result', importFilter: 'MS Word 2007 XML', exportFilter: 'writer_pdf_Export' };
    const { billableMs } = await pool.convert({ ...defaults, ...task, job }, { sandbox, signal, timeLimitMs });
    return { bytes: await readFile(join(job.path, 'result')), billableMs };
  } finally {
    await sandbox.closeJob(job);
  }
}

/** A text document as flat ODF, which any program can write. `body` is XML. */
export function flatText(body: string): Buffer {
  const spaces = ['office', 'text', 'table', 'style', 'draw'].map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name === 'draw' ? 'drawing' : name}:1.0"`).join(' ');
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?><office:document ${spaces} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>${body}</office:text></office:body></office:document>`);
}
