/** How the pictures begin that may stand in a page. A drawing (SVG) is none of them: it may itself fetch, and its readers are weak. */
const KINDS: readonly { readonly mime: string; readonly is: (head: Buffer) => boolean }[] = [
  { mime: 'image/png', is: (head) => head.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n' },
  { mime: 'image/jpeg', is: (head) => head.subarray(0, 3).toString('latin1') === '\xff\xd8\xff' },
  { mime: 'image/gif', is: (head) => /^GIF8[79]a/.test(head.toString('latin1', 0, 6)) },
  { mime: 'image/webp', is: (head) => head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP' },
];

/** Bytes that tell what kind of picture it is. */
const HEAD_BYTES = 16;

/** Width or height of a picture in a page, pixels; an office program holds it in memory whole. */
const SIDE_MAX_PX = 16_384;

const DATA_ADDRESS = /^\s*data:image\/[a-z0-9.+-]{1,40};base64,/i;

/** A picture that a page carries, written anew; undefined when it is none of those that may stand in a page. */
export function cleanDataAddress(address: string): string | undefined {
  const start = DATA_ADDRESS.exec(address)?.[0];
  if (start === undefined) return undefined;
  return pictureAddress(Buffer.from(address.slice(start.length), 'base64'));
}

/** The address that carries a picture within a page; undefined when it is none of those that may stand there. */
export function pictureAddress(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, HEAD_BYTES);
  const kind = KINDS.find(({ is }) => is(head));
  if (kind === undefined || (kind.mime === 'image/png' && !isPngOfSize(bytes))) return undefined;
  return `data:${kind.mime};base64,${bytes.toString('base64')}`;
}

/** Only a PNG packs a huge picture into few bytes. */
function isPngOfSize(bytes: Buffer): boolean {
  return bytes.length >= 24 && bytes.readUInt32BE(16) <= SIDE_MAX_PX && bytes.readUInt32BE(20) <= SIDE_MAX_PX;
}
