import { UsageError } from '../command.ts';

/** Whether the service takes text for an option, by its name; what it does not know is no text. */
export type IsText = (name: string) => boolean;

/**
 * Reads `name=value` texts: numbers and booleans become what they look like, unless the service takes text there, such as a
 * password of digits; everything else stays text. Throws `UsageError`.
 */
export function readOptions(texts: readonly string[], isText: IsText): Readonly<Record<string, unknown>> {
  return Object.fromEntries(texts.map((text) => readOption(text, isText)));
}

function readOption(text: string, isText: IsText): readonly [string, unknown] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError('--option needs name=value, such as --option quality=80');
  return [name, isText(name) ? value : valueOf(value)];
}

function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
