import { execFile } from 'node:child_process';
import { basename } from 'node:path';

/** Far more than the tools we call say; what is beyond ends the tool. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;
/** Lines of a failing tool that are worth showing. */
const SHOWN_LINES = 4;

/** How a command runs: in our folder and environment unless others are given. */
export interface CommandOptions {
  readonly limitMs: number;
  readonly cwd?: string;
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * Runs a command to its end and returns what it printed on stdout.
 * @throws Error with the end of what the command said, or that it took too long.
 */
export async function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { limitMs, cwd, environment: env } = options;
  const name = basename(command);
  return new Promise((resolve, reject) => {
    execFile(command, [...args], { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_LIMIT_BYTES, cwd, env }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      if (error.killed === true) return reject(new Error(`${name} took longer than ${limitMs / 1000} s`));
      reject(new Error(`${name}: ${chooseWords(stderr.trim() || stdout.trim() || error.message)}`));
    });
  });
}

/** The lines that speak of an error, or the last ones where none does. */
function chooseWords(output: string): string {
  const lines = output.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  const telling = lines.filter((line) => /error:/i.test(line));
  return (telling.length > 0 ? telling.slice(0, SHOWN_LINES) : lines.slice(-SHOWN_LINES)).join(' / ');
}
