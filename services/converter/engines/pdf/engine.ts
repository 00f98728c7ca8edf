import { join } from 'node:path';
import { extensionOf, type FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import type { JobDir } from '../../sandbox/command.ts';
import { checkResult, checkSource } from '../checks.ts';
import type { ConversionContext, ConversionRequest, ConversionResult, Engine, ToolStates } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { FLAT_FILTERS, OFFICE_FORMATS } from '../office/filters.ts';
import type { OfficePool } from '../office/pool.ts';
import { askChild } from '../run.ts';
import { countDown } from '../time-left.ts';
import { pdfAnswer, type PdfAnswer, type PdfJob } from './job.ts';

/** Memory of one process: 100 megapixels of a drawn page three times over, and what Node needs. */
const MEMORY_BYTES_MAX = 3 * 1024 ** 3;

/** Largest file on the way: 100 megapixels, uncompressed, take 0.3 GB; an archive of pictures may be larger. */
const RESULT_BYTES_MAX = 1024 ** 3;

const LIMITS = { memoryBytesMax: MEMORY_BYTES_MAX, fileBytesMax: RESULT_BYTES_MAX } as const;

/** Where a document lies in flat XML on its way to the office suite. */
const FLAT = 'flow.xml';

/** Threads that may be busy at once; the processor limit is so many times the wall-clock limit. */
const BUSY_THREADS = 2;

/** Time in which a probe must answer, milliseconds. */
const PROBE_TIME_LIMIT_MS = 20_000;

/**
 * Converts PDF with poppler and qpdf, each document in processes of its own; `office` stores what was found in one as an
 * office file. Whoever made the pool stops it.
 */
export function createPdfEngine(office: OfficePool): Engine {
  return {
    name: 'pdf',
    probe,
    convert: (request, context) => convert(request, context, office),
    stop: () => Promise.resolve(),
  };
}

async function probe(sandbox: ConversionContext['sandbox']): Promise<ToolStates> {
  const job = await sandbox.openJob();
  try {
    const answer = await runChild(job, { kind: 'probe' }, { sandbox, signal: new AbortController().signal, timeLimitMs: PROBE_TIME_LIMIT_MS });
    if (answer.kind !== 'probed') throw new EngineFailure('engine_crashed', `it answered ${answer.kind}`);
    return { poppler: answer.poppler, qpdf: answer.qpdf };
  } catch (error) {
    const reason = error instanceof EngineFailure ? `${error.code} ${error.operatorDetail}`.trim() : String(error);
    return { poppler: { available: false, reason }, qpdf: { available: false, reason } };
  } finally {
    await sandbox.closeJob(job);
  }
}

async function convert({ job, organizationId, source, input, output, options }: ConversionRequest, context: ConversionContext, office: OfficePool): Promise<ConversionResult> {
  const rest = countDown(context);
  await checkSource(join(job.path, source), input);
  const result = `result.${extensionOf(output)}`;
  const flat = flatFormatOf(output);
  let billableMs = await runConversion(job, { kind: 'convert', source, result: flat === undefined ? result : FLAT, output, options }, context);
  if (flat !== undefined) {
    const stored = await office.convert({ organizationId, job, source: FLAT, result, ...flat }, rest());
    billableMs += stored.billableMs;
  }
  const path = join(job.path, result);
  return { path, sizeBytes: await checkResult(path, output), billableMs };
}

/** How the suite reads what was written in flat XML, and writes what was asked for; undefined where it is not needed. */
function flatFormatOf(output: FormatName): { importFilter: string; exportFilter: string } | undefined {
  switch (output) {
    case 'docx':
    case 'odt':
    case 'rtf':
    case 'xlsx':
    case 'ods':
    case 'pptx':
    case 'odp': {
      const { component, writes } = OFFICE_FORMATS[output];
      return { importFilter: FLAT_FILTERS[component], exportFilter: writes };
    }
    default:
      return undefined;
  }
}

async function runConversion(job: JobDir, task: PdfJob, context: ConversionContext): Promise<number> {
  const answer = await runChild(job, task, context);
  if (answer.kind === 'failed') throw new EngineFailure(answer.cause);
  if (answer.kind !== 'converted') throw new EngineFailure('engine_crashed', `it answered ${answer.kind}`);
  return answer.billable_ms;
}

function runChild(job: JobDir, task: PdfJob, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<PdfAnswer> {
  return askChild('services/converter/engines/pdf/child', task, pdfAnswer, { job, limits: LIMITS, busyThreads: BUSY_THREADS }, context);
}
