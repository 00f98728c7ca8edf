/** What a cell holds, as spreadsheets tell it apart. */
export type Value =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'number'; readonly text: string; readonly value: number; readonly format: 'plain' | 'percent' }
  | { readonly type: 'date'; readonly text: string; readonly iso: string };

/** Digits that a number keeps in a spreadsheet; longer ones are numbers of accounts and parcels. */
const DIGITS_MAX = 15;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Reads what is in a cell: a number or a date only where nothing else can be meant. */
export function readValue(text: string): Value {
  const trimmed = text.trim();
  const iso = readDate(trimmed);
  if (iso !== undefined) return { type: 'date', text: trimmed, iso };
  const number = readNumber(trimmed);
  return number === undefined ? { type: 'text', text } : { type: 'number', text: trimmed, ...number };
}

function readNumber(text: string): { value: number; format: 'plain' | 'percent' } | undefined {
  const found = /^(\()?\s*([-+\u2212])?\s*[$\u20AC\u00A3]?\s*(\d[\d., \u00A0']*)\s*[$\u20AC\u00A3]?\s*(%)?\s*(\))?$/.exec(text);
  if (found === null || (found[1] === undefined) !== (found[5] === undefined)) return undefined;
  const value = readDigits(found[3]?.trim() ?? '');
  if (value === undefined) return undefined;
  const negative = found[1] !== undefined || found[2] === '-' || found[2] === '\u2212';
  const percent = found[4] !== undefined;
  return { value: (negative ? -value : value) / (percent ? 100 : 1), format: percent ? 'percent' : 'plain' };
}

/** Thousands may be parted by commas, full stops, spaces or apostrophes; `1.234` alone is read as English. */
function readDigits(text: string): number | undefined {
  const english = /^(?:\d+|\d{1,3}(?:[, \u00A0']\d{3})+)(?:\.\d+)?$/.test(text);
  const continental = /^(?:\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:[ \u00A0]\d{3})+),\d+$/.test(text) || /^\d{1,3}(?:\.\d{3}){2,}$/.test(text);
  if (!english && !continental) return undefined;
  const plain = english ? text.replaceAll(/[, \u00A0']/g, '') : text.replaceAll(/[. \u00A0]/g, '').replace(',', '.');
  // A leading zero is part of a code, such as that of a place.
  if (plain.replace('.', '').length > DIGITS_MAX || /^0\d/.test(plain)) return undefined;
  return Number(plain);
}

function readDate(text: string): string | undefined {
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (iso) return validDate(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  if (dotted) return validDate(Number(dotted[3]), Number(dotted[2]), Number(dotted[1]));
  const slashed = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text);
  if (slashed) return readSlashed(Number(slashed[1]), Number(slashed[2]), Number(slashed[3]));
  const named = /^(\d{1,2}) ([a-z]{3})[a-z]* (\d{4})$/i.exec(text);
  if (named) return validDate(Number(named[3]), MONTHS.indexOf(named[2]?.toLowerCase() ?? '') + 1, Number(named[1]));
  return undefined;
}

/** Only where one of the two cannot be a month it is clear which is which. */
function readSlashed(first: number, second: number, year: number): string | undefined {
  if (first > 12) return validDate(year, second, first);
  if (second > 12) return validDate(year, first, second);
  return first === second ? validDate(year, first, second) : undefined;
}

function validDate(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const real = year >= 1900 && month >= 1 && month <= 12 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return real ? date.toISOString().slice(0, 10) : undefined;
}
