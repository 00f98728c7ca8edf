import type { Readable, Writable } from 'node:stream';
import { once } from 'node:events';

/** A longer line is shown in pieces, so that output without line ends cannot fill our memory. */
const LINE_CHARACTERS = 64 * 1024;

/** Writes every line of `from` to `to` with a prefix, and waits when `to` is slow, until `from` ends. */
export async function copyWithPrefix(from: Readable, to: Writable, prefix: string): Promise<void> {
  let rest = '';
  from.setEncoding('utf8');
  for await (const chunk of from) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARACTERS) {
      lines.push(rest);
      rest = '';
    }
    for (const line of lines) await write(to, `${prefix}${line}\n`);
  }
  if (rest !== '') await write(to, `${prefix}${rest}\n`);
}

async function write(to: Writable, text: string): Promise<void> {
  // When nobody reads any more (a closed terminal), lines are dropped and the services go on.
  if (to.destroyed || to.write(text)) return;
  await Promise.race([once(to, 'drain'), once(to, 'close')]).catch(() => undefined);
}
