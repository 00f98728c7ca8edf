import { once } from 'node:events';
import { createInterface } from 'node:readline';
import sharp from 'sharp';
import { EngineFailure } from '../failure.ts';
import { convertImage } from './convert.ts';
import { imageJob, type ImageAnswer, type ImageJob } from './job.ts';

async function answer(job: ImageJob): Promise<ImageAnswer> {
  if (job.kind === 'probe') {
    const { proveTool } = await import('./prove-tool.ts');
    return { kind: 'probed', version: await proveTool(job.tool) };
  }
  const startedAt = performance.now();
  try {
    await convertImage(job);
    return { kind: 'converted', billable_ms: Math.ceil(performance.now() - startedAt) };
  } catch (error) {
    if (error instanceof EngineFailure) return { kind: 'failed', cause: error.code };
    throw error;
  }
}

// One job and one thread a process: parallel jobs then share the processors fairly, and nothing is worth keeping.
sharp.concurrency(1);
sharp.cache(false);

const input = createInterface({ input: process.stdin });
const [line] = (await once(input, 'line')) as [string];
// The parent keeps our input open while it waits; its end means that nobody wants the result any more.
input.once('close', () => process.exit(1));
const result = await answer(imageJob.parse(JSON.parse(line)));
process.stdout.write(JSON.stringify(result), () => process.exit(0));
