import { answerParent, timeConversion } from '../answer-parent.ts';
import { runOnOneThread } from '../image/one-thread.ts';
import { convertPdf } from './convert.ts';
import { pdfJob, type PdfAnswer, type PdfJob } from './job.ts';
import { probePoppler, probeQpdf } from './probe.ts';

async function answer(job: PdfJob): Promise<PdfAnswer> {
  if (job.kind === 'probe') return { kind: 'probed', poppler: await probePoppler(), qpdf: await probeQpdf() };
  return timeConversion(() => convertPdf(job));
}

runOnOneThread();
await answerParent(pdfJob, answer);
