import { execFile } from 'node:child_process';

/** Far more than the tools we call say; what is beyond ends the tool. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;
/** Lines of a failing tool that are worth showing. */
const SHOWN_LINES = 4;

/** How a command runs. `environment` adds to ours. */
export interface CommandOptions {
  readonly limitMs: number;
  readonly cwd?: string;
}

/**
 * Runs a command to its end and returns what it printed on stdout.
 * @throws Error with the end of what the command said, or that it took too long.
 */
export async function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { limitMs, cwd } = options;
  return new Promise((resolve, reject) => {
    execFile(command, [...args], { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_LIMIT_BYTES, ...(cwd === undefined ? {} : { cwd }) }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      if (error.killed === true) return reject(new Error(`${command} took longer than ${limitMs / 1000} s`));
      const words = (stderr.trim() || stdout.trim() || error.message).split('\n').slice(-SHOWN_LINES).join(' / ');
      reject(new Error(`${command}: ${words}`));
    });
  });
}
