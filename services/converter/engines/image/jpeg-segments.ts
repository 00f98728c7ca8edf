/** Markers without a length: fill bytes aside, the start and the restarts. */
const START = 0xd8;
const END = 0xd9;
const SCAN = 0xda;

/** What a decoder needs besides the tables: how the colours were transformed (APP14), and what JPEG itself is (APP0). */
const KEPT_APPLICATIONS: ReadonlySet<number> = new Set([0xe0, 0xee]);

const APPLICATION_FIRST = 0xe0;
const APPLICATION_LAST = 0xef;
const COMMENT = 0xfe;

/**
 * A JPEG without what says where, when and by whom it was made, and without what follows its end, such as the film of a
 * moving photograph. The pixels stay as they are. Undefined where its segments make no sense.
 */
export function stripJpeg(bytes: Buffer, keepsMetadata: boolean): Buffer | undefined {
  const kept = [bytes.subarray(0, 2)];
  for (let at = 2; ; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === END) return Buffer.concat([...kept, bytes.subarray(at, at + 2)]);
    if (marker === START || at + 4 > bytes.length) return undefined;
    let end = at + 2 + bytes.readUInt16BE(at + 2);
    if (marker === SCAN) end = findMarker(bytes, end);
    if (keepsMetadata || !isMetadata(marker)) kept.push(bytes.subarray(at, end));
    at = end;
  }
}

function isMetadata(marker: number): boolean {
  return marker === COMMENT || (marker >= APPLICATION_FIRST && marker <= APPLICATION_LAST && !KEPT_APPLICATIONS.has(marker));
}

/** The next marker after compressed pixels, in which 0xff is followed by 0 or by a restart. */
function findMarker(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return bytes.length;
}
