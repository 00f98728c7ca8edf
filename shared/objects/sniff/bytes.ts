/** A test of the first bytes of a file. */
export type HeadTest = (head: Buffer) => boolean;

/** True where the bytes at `offset` are those of `text`, one byte a character. */
export function has(text: string, offset = 0): HeadTest {
  const expected = Buffer.from(text, 'latin1');
  return (head) => head.subarray(offset, offset + expected.length).equals(expected);
}

/** True where one of the tests is. */
export function any(...tests: readonly HeadTest[]): HeadTest {
  return (head) => tests.some((test) => test(head));
}

/** True where all of the tests are. */
export function all(...tests: readonly HeadTest[]): HeadTest {
  return (head) => tests.every((test) => test(head));
}

/** The opposite of a test. */
export function not(test: HeadTest): HeadTest {
  return (head) => !test(head);
}
