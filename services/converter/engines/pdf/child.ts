import { once } from 'node:events';
import { createInterface } from 'node:readline';
import sharp from 'sharp';
import { EngineFailure } from '../failure.ts';
import { convertPdf } from './convert.ts';
import { pdfJob, type PdfAnswer, type PdfJob } from './job.ts';
import { probePoppler, probeQpdf } from './probe.ts';

async function answer(job: PdfJob): Promise<PdfAnswer> {
  if (job.kind === 'probe') return { kind: 'probed', poppler: await probePoppler(), qpdf: await probeQpdf() };
  const startedAt = performance.now();
  try {
    await convertPdf(job);
    return { kind: 'converted', billable_ms: Math.ceil(performance.now() - startedAt) };
  } catch (error) {
    if (error instanceof EngineFailure) return { kind: 'failed', cause: error.code };
    throw error;
  }
}

sharp.concurrency(1);
sharp.cache(false);

const input = createInterface({ input: process.stdin });
const [line] = (await once(input, 'line')) as [string];
// The parent keeps our input open while it waits; its end means that nobody wants the result any more.
input.once('close', () => process.exit(1));
const result = await answer(pdfJob.parse(JSON.parse(line)));
process.stdout.write(JSON.stringify(result), () => process.exit(0));
