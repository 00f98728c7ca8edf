import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isProcessRunning } from '../lifecycle/is-process-running.ts';

/** `DATA_DIR/run.json`: how the commands find the running standalone edition. It holds passwords (mode 0600). */
const runFileSchema = z.object({
  pid: z.int().positive(),
  /** Address of the service without `/v1`. */
  base_url: z.url(),
  nats_url: z.string(),
  nats_monitor_url: z.string().optional(),
  database_url: z.string(),
});

/** Contents of the file. */
export type RunFile = z.infer<typeof runFileSchema>;

/** Path of the file in a data folder. */
export function runFilePath(dataFolder: string): string {
  return join(dataFolder, 'run.json');
}

/** Where the service of a data folder runs; undefined when it does not, or was killed and has left its file. */
export function readRunFile(dataFolder: string): RunFile | undefined {
  let text: string;
  try {
    text = readFileSync(runFilePath(dataFolder), 'utf8');
  } catch {
    return undefined;
  }
  const contents = runFileSchema.parse(JSON.parse(text));
  return isProcessRunning(contents.pid) ? contents : undefined;
}
