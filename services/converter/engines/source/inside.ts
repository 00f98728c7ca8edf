import { open, type FileHandle } from 'node:fs/promises';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { has } from '../../../../shared/objects/sniff/bytes.ts';
import { matchesDeclared, SNIFF_BYTES } from '../../../../shared/objects/sniff/heads.ts';
import { id3Length } from '../../../../shared/objects/sniff/mpeg-audio.ts';
import { EngineFailure } from '../failure.ts';
import { isOfKind, textOf, type ArchiveKind } from './archive-kinds.ts';
import { readArchive, type Archive } from './archive.ts';
import { readRoot } from './compound.ts';
import { checkMarkup } from './markup.ts';

/** The number by which older slides say that they are encrypted, and where it stands. */
const ENCRYPTED_SLIDES = 0xf3d1c4df;
const ENCRYPTED_SLIDES_AT = 12;

/** What is known of a source besides its bytes. */
export interface KnownOfSource {
  /** Whether the client gave a password to open it with. */
  readonly hasPassword: boolean;
}

type Check = (file: FileHandle, head: Buffer, known: KnownOfSource) => Promise<void>;

const CHECKS: Partial<Readonly<Record<FormatName, Check>>> = {
  aac: afterTags('aac'),
  doc: compoundWith(['worddocument']),
  docx: officeOpenXml('docx'),
  epub: archiveOf('epub'),
  flac: afterTags('flac'),
  key: archiveOf('key'),
  mp3: afterTags('mp3'),
  numbers: archiveOf('numbers'),
  odp: archiveOf('odp'),
  ods: archiveOf('ods'),
  odt: archiveOf('odt'),
  pages: archiveOf('pages'),
  ppt: slides,
  pptx: officeOpenXml('pptx'),
  xls: compoundWith(['workbook', 'book']),
  xlsx: officeOpenXml('xlsx'),
};

/**
 * Looks into a file whose first bytes alone do not tell enough: archives, compound files, sound behind a long tag. No
 * process is needed for it, and it takes milliseconds.
 * @throws EngineFailure `not_what_it_claims`, `damaged`, `unpacks_too_large`, `too_many_cells`, `password_required`,
 * `cannot_be_unlocked` or `unsupported_feature`.
 */
export async function checkInside(path: string, head: Buffer, input: FormatName, known: KnownOfSource): Promise<void> {
  const check = CHECKS[input];
  if (check === undefined) return;
  const file = await open(path, 'r');
  try {
    await check(file, head, known);
  } finally {
    await file.close();
  }
}

function archiveOf(kind: ArchiveKind): Check {
  return async (file, _, known) => {
    const archive = await readArchive(file);
    if (!(await isOfKind(archive, kind))) throw new EngineFailure('not_what_it_claims');
    if (isProtectedByApple(archive)) throw new EngineFailure('cannot_be_unlocked');
    if (!known.hasPassword && (await isProtected(archive))) throw new EngineFailure('password_required');
    await checkMarkup(archive, kind);
  };
}

/** Apple's programs leave a file to verify the password by. */
function isProtectedByApple(archive: Archive): boolean {
  return archive.names.some((name) => /(?:^|\/)\.iwp[hv]2?$/.test(name));
}

/** OpenDocument encrypts the members and lists how. */
async function isProtected(archive: Archive): Promise<boolean> {
  return textOf(await archive.readStart('META-INF/manifest.xml')).includes('encryption-data');
}

/** Newer Office files are archives; protected by a password they lie in a compound file, where nobody can look into them. */
function officeOpenXml(kind: 'docx' | 'pptx' | 'xlsx'): Check {
  const asArchive = archiveOf(kind);
  return async (file, head, known) => {
    if (has('PK')(head)) return asArchive(file, head, known);
    if (!(await readRoot(file)).names.has('encryptedpackage')) throw new EngineFailure('not_what_it_claims');
    if (!known.hasPassword) throw new EngineFailure('password_required');
  };
}

function compoundWith(streams: readonly string[]): Check {
  return async (file) => {
    const { names } = await readRoot(file);
    if (!streams.some((stream) => names.has(stream))) throw new EngineFailure('not_what_it_claims');
  };
}

/** Slides say in a short stream whether the others are encrypted, which the office suite cannot undo. */
async function slides(file: FileHandle): Promise<void> {
  const root = await readRoot(file);
  if (!root.names.has('powerpoint document')) throw new EngineFailure('not_what_it_claims');
  const user = await root.readStart('current user');
  if (user.length >= ENCRYPTED_SLIDES_AT + 4 && user.readUInt32LE(ENCRYPTED_SLIDES_AT) === ENCRYPTED_SLIDES) throw new EngineFailure('cannot_be_unlocked');
}

/** Tags with pictures may be longer than what was read. */
function afterTags(format: FormatName): Check {
  return async (file, head) => {
    const length = id3Length(head);
    if (length < head.length) return;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, length);
    if (bytesRead === 0) throw new EngineFailure('damaged');
    if (!matchesDeclared(buffer.subarray(0, bytesRead), format)) throw new EngineFailure('not_what_it_claims');
  };
}
