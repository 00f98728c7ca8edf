import type { FailureCause } from '../failure.ts';

/** What an archive says about one of its members; nothing of it has been unpacked. */
export interface ListedMember {
  readonly name: string;
  /** Where its own header begins in the file. */
  readonly offset: number;
  readonly compressedBytes: number;
  readonly unpackedBytes: number;
  readonly encrypted: boolean;
  readonly symbolicLink: boolean;
}

/** Members of one archive; a presentation of a thousand slides has about five thousand. */
export const MEMBERS_MAX = 10_000;

/** What all members may unpack to, bytes; the largest honest ones are sheets of a million rows. */
const UNPACKED_BYTES_MAX = 1024 ** 3;

/**
 * How many times its size a member may unpack to. Documents of people unpack to 1 to 16 times their size, rows that
 * are all alike to some hundred times; no file that deflate wrote passes 1032.
 */
const RATIO_MAX = 200;

/** Below so many bytes no ratio counts: a white picture or equal rows unpack to many times their size and harm nobody. */
const RATIO_FLOOR_BYTES = 64 * 1024 * 1024;

/** Bytes of the header before each member, besides its name. */
const LOCAL_HEADER_BYTES = 30;

/** Why an archive is refused by its list alone; undefined when the list is in order. `fileBytes`: size of the archive. */
export function findFault(members: readonly ListedMember[], fileBytes: number): FailureCause | undefined {
  if (members.length > MEMBERS_MAX) return 'unpacks_too_large';
  if (members.some(({ encrypted, symbolicLink }) => encrypted || symbolicLink)) return 'damaged';
  if (new Set(members.map(({ name }) => name)).size < members.length || overlap(members, fileBytes)) return 'damaged';
  const unpackedBytes = members.reduce((sum, member) => sum + member.unpackedBytes, 0);
  if (unpackedBytes > UNPACKED_BYTES_MAX || isBomb(unpackedBytes, fileBytes)) return 'unpacks_too_large';
  return members.some((member) => isBomb(member.unpackedBytes, member.compressedBytes)) ? 'unpacks_too_large' : undefined;
}

function isBomb(unpackedBytes: number, compressedBytes: number): boolean {
  return unpackedBytes > RATIO_FLOOR_BYTES && unpackedBytes > compressedBytes * RATIO_MAX;
}

/** Members that share bytes multiply what is in the file; nothing honest writes them so. */
function overlap(members: readonly ListedMember[], fileBytes: number): boolean {
  let end = 0;
  for (const { name, offset, compressedBytes } of members.toSorted((one, other) => one.offset - other.offset)) {
    if (offset < end) return true;
    end = offset + LOCAL_HEADER_BYTES + Buffer.byteLength(name, 'latin1') + compressedBytes;
  }
  return end > fileBytes;
}
