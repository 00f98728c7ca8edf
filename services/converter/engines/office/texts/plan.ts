import type { FormatName } from '../../../../../shared/domain/catalogue/formats.ts';
import { TEXT_INPUTS, type TEXT_OUTPUTS } from './task.ts';

type TextInput = (typeof TEXT_INPUTS)[number];
type TextOutput = (typeof TEXT_OUTPUTS)[number];

/** What a file has to go through, in this order; each step but the last writes a file for the next. */
export interface Plan {
  /** Reads the source in our own program. */
  readonly before?: { readonly input: TextInput; readonly output: TextOutput };
  /** Formats that the office program is told to read and to write. */
  readonly office?: { readonly input: FormatName; readonly output: FormatName };
  /** Writes the result in our own program. */
  readonly after?: { readonly input: TextInput; readonly output: TextOutput };
}

/** Written by our own program, wherever the source is read by it. */
const OWN = ['txt', 'html', 'md', 'epub'] as const;

/** How a text, or what becomes one, is converted; undefined when neither of the two is ours. */
export function planOf(input: FormatName, output: FormatName): Plan | undefined {
  const text = TEXT_INPUTS.find((format) => format === input);
  const own = OWN.find((format) => format === output);
  if (text !== undefined) return text === 'csv' ? planTable(output) : planPage(text, own, output);
  if (output === 'csv') return { office: { input, output }, after: { input: 'csv', output: 'csv' } };
  if (own === undefined) return undefined;
  const written = own === 'txt' ? 'txt' : 'html';
  return { office: { input, output: written }, after: { input: written, output: own } };
}

function planTable(output: FormatName): Plan {
  if (output === 'html' || output === 'csv') return { before: { input: 'csv', output } };
  return { before: { input: 'csv', output: 'cells' }, office: { input: 'csv', output } };
}

function planPage(input: Exclude<TextInput, 'csv'>, own: (typeof OWN)[number] | undefined, output: FormatName): Plan {
  if (own !== undefined) return { before: { input, output: own } };
  const read = input === 'txt' ? 'txt' : 'html';
  return { before: { input, output: read }, office: { input: read, output } };
}
