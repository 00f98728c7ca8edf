const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Whether JSON text nests deeper than `levelsMax`. One pass over the bytes, before anything is parsed, because a
 * megabyte of brackets would cost the parser and everything after it far more than it costs the sender.
 */
export function nestsDeeperThan(bytes: Uint8Array, levelsMax: number): boolean {
  let level = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (OPENING.has(byte)) {
      level += 1;
      if (level > levelsMax) return true;
    } else if (CLOSING.has(byte)) level -= 1;
  }
  return false;
}
