import { parseArgs, type ParseArgsConfig } from 'node:util';
import { EXIT_BAD_CONFIGURATION } from '../../shared/config/load.ts';
import { CodedError, ConfigurationError } from '../../shared/errors/errors.ts';

/** Exit codes of all commands: it failed, or what it looked at is not in order; it was called wrongly; bad settings, or no running service. */
export const EXIT = { failed: 1, usage: 2, badConfiguration: EXIT_BAD_CONFIGURATION } as const;

/** A wrong call; the text names the argument and what is allowed. */
export class UsageError extends CodedError {
  readonly code = 'usage';
}

/** Named options as `parseArgs` returns them. */
export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** One command: how it is called, and what it does. */
export type Command = {
  /** Words that select it, such as `org create`. */
  readonly name: string;
  /** The rest of the call, for the help. */
  readonly usage: string;
  readonly summary: string;
  readonly options: Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string; readonly multiple?: boolean }>>;
  /** Names of the arguments without dashes, all required. */
  readonly arguments: readonly string[];
  /** Answers what is printed as one JSON object; nothing when it printed by itself. May answer an exit code. */
  readonly run: (values: OptionValues, args: readonly string[]) => Promise<Readonly<Record<string, unknown>> | number | undefined>;
};

/**
 * Runs the command that `argv` names and ends the process: 0 with one JSON object on stdout, or a plain sentence on
 * stderr and a code that is not 0.
 */
export async function runCommands(program: string, commands: readonly Command[], argv: readonly string[]): Promise<never> {
  if (argv.length === 0 || argv[0] === '--help' || argv[0] === 'help') {
    process.stdout.write(help(program, commands));
    process.exit(argv.length === 0 ? EXIT.usage : 0);
  }
  try {
    const command = select(program, commands, argv);
    const words = command.name === '' ? 0 : command.name.split(' ').length;
    const rest = argv.slice(words);
    if (rest.includes('--help')) {
      process.stdout.write(help(program, [command]));
      process.exit(0);
    }
    const { values, args } = parse(command, rest);
    const answer = await command.run(values, args);
    if (typeof answer === 'object') process.stdout.write(`${JSON.stringify(answer)}\n`);
    process.exit(typeof answer === 'number' ? answer : 0);
  } catch (error) {
    process.stderr.write(`${program}: ${sentence(error)}\n`);
    process.exit(exitCode(error));
  }
}

function select(program: string, commands: readonly Command[], argv: readonly string[]): Command {
  const found = commands.find((command) => command.name === '' || command.name.split(' ').every((word, index) => argv[index] === word));
  if (found) return found;
  const names = commands.map((command) => command.name).join(', ');
  throw new UsageError(`there is no command "${argv.slice(0, 2).join(' ')}"; there are: ${names}. Try: npm run -s ${program} -- --help`);
}

function parse(command: Command, rest: readonly string[]): { values: OptionValues; args: readonly string[] } {
  const config: ParseArgsConfig = { args: [...rest], options: { ...command.options }, allowPositionals: true, strict: true };
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs(config);
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  if (parsed.positionals.length !== command.arguments.length) {
    throw new UsageError(`usage: ${`${command.name} ${command.usage}`.trim()}`);
  }
  return { values: parsed.values, args: parsed.positionals };
}

function help(program: string, commands: readonly Command[]): string {
  const lines = commands.map((command) => `  npm run -s ${program} -- ${`${command.name} ${command.usage}`.trim()}\n      ${command.summary}\n`);
  return `Usage:\n${lines.join('')}`;
}

function sentence(error: unknown): string {
  if (error instanceof ConfigurationError) return error.problems.join('\n');
  return error instanceof Error ? error.message : String(error);
}

function exitCode(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  return error instanceof ConfigurationError ? EXIT.badConfiguration : EXIT.failed;
}
