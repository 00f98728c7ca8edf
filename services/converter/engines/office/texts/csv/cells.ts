/**
 * What surely is meant as a number: no leading zero, as telephone numbers and postal codes have, no more digits than a
 * number of a workbook keeps, no exponent, as article codes seem to have.
 */
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Digits that survive in a number of a workbook. */
const DIGITS_MAX = 15;

/** How a cell begins that some program may take for a formula. */
const FORMULA_START = /^[\s]*[=+\-@]/;

/** A number with a sign, which is no formula. */
const SIGNED_NUMBER = /^[+-](?:\d[\d.]*|\.\d+)%?$/;

/**
 * How a cell is written for the office program, which takes quoted ones for text and decides about the others (its filter's
 * "quoted field as text"). What begins like a formula is always quoted, so no csv brings a formula into a workbook.
 */
export function writeCell(cell: string, detectNumbers: boolean): string {
  return cell === '' || mayBeValue(cell, detectNumbers) ? cell : `"${cell.replaceAll('"', '""')}"`;
}

function mayBeValue(cell: string, detectNumbers: boolean): boolean {
  if (!detectNumbers) return PLAIN_NUMBER.test(cell) && cell.replaceAll(/\D/g, '').length <= DIGITS_MAX;
  if (/["\t\r\n]/.test(cell)) return false;
  return !FORMULA_START.test(cell) || SIGNED_NUMBER.test(cell);
}

/** How a cell is written for people and other programs: quoted only where it has to be. */
export function quoteCell(cell: string, delimiter: string): string {
  return /["\r\n]|^\s|\s$/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
