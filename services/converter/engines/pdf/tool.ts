import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readText } from '../../sandbox/read-text.ts';
import { causeOfSignal } from '../exit.ts';
import { EngineFailure } from '../failure.ts';

/** The programs of poppler-utils and qpdf that are used. */
export type PdfTool = 'pdfinfo' | 'pdftoppm' | 'pdftocairo' | 'pdftotext' | 'pdftohtml' | 'qpdf';

/** Characters of what a program prints that are kept: the sizes of ten thousand pages fit. */
const OUTPUT_MAX = 2 * 1024 * 1024;

/** What a program printed, and the code it ended with; only some codes mean that nothing came of it. */
export interface ToolRun {
  readonly code: number;
  readonly output: string;
}

/**
 * Runs a program of the sandbox to its end; it inherits folder, user and limits of this process. Arguments are numbers
 * and names of ours. A password goes through `input`, because arguments can be read by everybody on the machine.
 * @throws EngineFailure when a limit of the system ended it.
 */
export async function runTool(tool: PdfTool, args: readonly string[], input = ''): Promise<ToolRun> {
  const child = spawn(tool, args, { stdio: ['pipe', 'pipe', 'ignore'], shell: false });
  // A program that ends before it has read its input is judged by its end.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [output, [code, signal]] = await Promise.all([readText(child.stdout, OUTPUT_MAX), once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>]);
  if (signal !== null || code === null) throw new EngineFailure(causeOfSignal(signal));
  return { code, output };
}

/**
 * The same, for a program whose only good end is without complaint.
 * @throws EngineFailure `damaged` when it complains.
 */
export async function runToolWell(tool: PdfTool, args: readonly string[]): Promise<string> {
  const { code, output } = await runTool(tool, args);
  if (code !== 0) throw new EngineFailure('damaged');
  return output;
}
