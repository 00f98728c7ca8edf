import { answerParent, timeConversion } from '../answer-parent.ts';
import { convertImage } from './convert.ts';
import { imageJob, type ImageAnswer, type ImageJob } from './job.ts';
import { runOnOneThread } from './one-thread.ts';

async function answer(job: ImageJob): Promise<ImageAnswer> {
  if (job.kind !== 'probe') return timeConversion(() => convertImage(job));
  const { proveTool } = await import('./prove-tool.ts');
  return { kind: 'probed', version: await proveTool(job.tool) };
}

runOnOneThread();
await answerParent(imageJob, answer);
