/** First and last byte, both included. */
export type ByteRange = { readonly start: number; readonly end: number };

/** One range, each number short enough to be exact. */
const SINGLE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * Reads a `Range` header for a body of `sizeBytes`. Undefined means the whole body: no header, another unit, several
 * ranges or nonsense, all of which RFC 9110 §14.2 lets a server ignore. `unsatisfiable` is answered with 416.
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const wanted = Math.min(Number(last), sizeBytes);
    return wanted === 0 ? 'unsatisfiable' : { start: sizeBytes - wanted, end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= sizeBytes) return 'unsatisfiable';
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) };
}
