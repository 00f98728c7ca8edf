import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { EngineFailure } from '../../failure.ts';
import { convertText } from './convert.ts';
import { textTask, type TextAnswer, type TextTask } from './task.ts';

async function answer(task: TextTask): Promise<TextAnswer> {
  const startedAt = performance.now();
  try {
    await convertText(task);
    return { kind: 'converted', billable_ms: Math.ceil(performance.now() - startedAt) };
  } catch (error) {
    if (error instanceof EngineFailure) return { kind: 'failed', cause: error.code };
    throw error;
  }
}

const input = createInterface({ input: process.stdin });
const [line] = (await once(input, 'line')) as [string];
// The parent keeps our input open while it waits; its end means that nobody wants the result any more.
input.once('close', () => process.exit(1));
const result = await answer(textTask.parse(JSON.parse(line)));
process.stdout.write(JSON.stringify(result), () => process.exit(0));
