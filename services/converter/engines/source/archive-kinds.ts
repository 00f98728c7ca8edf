import { gunzipSync } from 'node:zlib';
import { EngineFailure } from '../failure.ts';
import type { Archive } from './archive.ts';

/** Kinds of documents that are archives. */
export type ArchiveKind = 'docx' | 'xlsx' | 'pptx' | 'odt' | 'ods' | 'odp' | 'epub' | 'pages' | 'numbers' | 'key';

/**
 * Types of the main part, as documents, templates and those with macros name them. Macros never run, and LibreOffice
 * reads all of them by one filter.
 */
const MAIN_PARTS = {
  docx: /application\/vnd\.(?:openxmlformats-officedocument\.wordprocessingml\.(?:document|template)|ms-word\.(?:document\.macroEnabled|template\.macroEnabledTemplate))\.main\+xml/i,
  xlsx: /application\/vnd\.(?:openxmlformats-officedocument\.spreadsheetml\.(?:sheet|template)|ms-excel\.(?:sheet|template|addin)\.macroEnabled)\.main\+xml/i,
  pptx: /application\/vnd\.(?:openxmlformats-officedocument\.presentationml\.(?:presentation|slideshow|template)|ms-powerpoint\.(?:presentation|slideshow|template|addin)\.macroEnabled)\.main\+xml/i,
} as const;

/** What a file named `mimetype` says. */
const MIME_TYPES = {
  odt: /^application\/vnd\.oasis\.opendocument\.text(?:-template|-master|-web)?$/,
  ods: /^application\/vnd\.oasis\.opendocument\.spreadsheet(?:-template)?$/,
  odp: /^application\/vnd\.oasis\.opendocument\.presentation(?:-template)?$/,
  epub: /^application\/epub\+zip$/,
} as const;

/** Root elements of Apple's documents from before 2013. */
const APPLE_ROOTS = { pages: /<sl:document\b/, numbers: /<ls:document\b/, key: /<(?:key:)?presentation\b/ } as const;

/** True when what is in an archive is of the kind. @throws EngineFailure `damaged`. */
export async function isOfKind(archive: Archive, kind: ArchiveKind): Promise<boolean> {
  switch (kind) {
    case 'docx':
    case 'xlsx':
    case 'pptx':
      return MAIN_PARTS[kind].test(textOf(await archive.readWhole('[Content_Types].xml')));
    case 'odt':
    case 'ods':
    case 'odp':
    case 'epub':
      return MIME_TYPES[kind].test(await mimeTypeOf(archive));
    case 'pages':
    case 'numbers':
    case 'key':
      return isApple(archive, kind);
    default:
      return kind satisfies never;
  }
}

/** What the document says it is; older ones say it only in the list of their members. */
async function mimeTypeOf(archive: Archive): Promise<string> {
  const said = textOf(await archive.readStart('mimetype')).trim();
  if (said !== '') return said;
  const root = (textOf(await archive.readStart('META-INF/manifest.xml')).match(/<(?:\w+:)?file-entry\b[^>]*>/g) ?? []).find((entry) => /full-path\s*=\s*["']\/["']/.test(entry));
  return /media-type\s*=\s*["']([^"']*)["']/.exec(root ?? '')?.[1] ?? '';
}

/** Markup as text; UTF-16 loses the zeros that stand between its letters. */
export function textOf(bytes: Buffer | undefined): string {
  return (bytes ?? Buffer.alloc(0)).toString('latin1').replaceAll('\0', '');
}

/**
 * Since 2013 Pages and Numbers are told apart only by what is inside their own packed files, so either is left to the
 * filter, which refuses the other; slides are Keynote's alone. All of it may lie in one folder.
 */
async function isApple(archive: Archive, kind: keyof typeof APPLE_ROOTS): Promise<boolean> {
  const names = archive.names.map((name) => name.replace(/^[^/]+\/(?=Index|index)/, ''));
  if (names.some((name) => /^Index\/(?:Master)?Slide[^/]*\.iwa$/.test(name))) return kind === 'key';
  if (names.includes('Index/Document.iwa')) return kind !== 'key';
  if (names.includes('Index.zip')) return true;
  const old = archive.names.find((name) => /^(?:[^/]+\/)?index\.(?:xml|apxl)(?:\.gz)?$/.test(name));
  return old !== undefined && APPLE_ROOTS[kind].test(textOf(await startOf(archive, old)));
}

async function startOf(archive: Archive, name: string): Promise<Buffer | undefined> {
  const start = await archive.readStart(name);
  return name.endsWith('.gz') && start ? gunzipStart(start) : start;
}

function gunzipStart(packed: Buffer): Buffer {
  try {
    return gunzipSync(packed, { finishFlush: 2, maxOutputLength: packed.length * 1_032 });
  } catch (error) {
    throw new EngineFailure('damaged', String(error));
  }
}
