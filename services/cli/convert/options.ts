import { UsageError } from '../command.ts';

/**
 * Reads `name=value` texts: numbers and booleans become what they look like, everything else stays text. Throws
 * `UsageError`.
 */
export function readOptions(texts: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(texts.map(readOption));
}

function readOption(text: string): readonly [string, unknown] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError('--option needs name=value, such as --option quality=80');
  return [name, valueOf(value)];
}

function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
