import { posix } from 'node:path';
import { Parser } from 'htmlparser2';
import { EngineFailure } from '../../../failure.ts';
import type { Archive } from './archive.ts';

/** Chapters of a book. */
const CHAPTERS_MAX = 5_000;

/** Fonts may be stored in a way that only readers undo; anything else that is encrypted is a book that somebody protects. */
const FONT_OBFUSCATION = /^http:\/\/(?:www\.idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC)$/;

/** What a book says of itself. */
export interface Contents {
  readonly title: string;
  readonly language: string;
  /** Names of the chapters in the archive, in reading order. */
  readonly chapters: readonly string[];
}

/**
 * Reads in which order a book is to be read.
 * @throws EngineFailure `damaged`, `unsupported_feature` when the book is protected, `unpacks_too_large`.
 */
export async function readContents(archive: Archive): Promise<Contents> {
  await refuseProtected(archive);
  const packageName = (await elementsOf(archive, 'META-INF/container.xml')).find(({ name }) => name === 'rootfile')?.attributes['full-path'];
  if (packageName === undefined) throw new EngineFailure('damaged');
  const elements = await elementsOf(archive, packageName);
  const manifest = new Map(elements.filter(({ name }) => name === 'item').map(({ attributes }) => [attributes['id'] ?? '', attributes]));
  const named = elements
    .filter(({ name, attributes }) => name === 'itemref' && attributes['linear'] !== 'no')
    .map(({ attributes }) => manifest.get(attributes['idref'] ?? ''))
    .filter((item) => item !== undefined && /html/.test(item['media-type'] ?? ''))
    .map((item) => resolveName(packageName, item?.['href'] ?? ''))
    .filter((name): name is string => name !== undefined && archive.has(name));
  // A book names each chapter once; one that repeats a long one would be many times its size.
  const chapters = [...new Set(named)];
  if (chapters.length === 0) throw new EngineFailure('damaged');
  if (chapters.length > CHAPTERS_MAX) throw new EngineFailure('unpacks_too_large');
  return { title: textOf(elements, 'title'), language: textOf(elements, 'language'), chapters };
}

/** The file of the archive that an address in another of its files means; undefined when it is none, such as one outside. */
export function resolveName(from: string, address: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(address)) return undefined;
  const [path = ''] = address.split('#');
  try {
    return path === '' ? from : posix.normalize(posix.join(posix.dirname(from), decodeURIComponent(path)));
  } catch {
    return undefined;
  }
}

async function refuseProtected(archive: Archive): Promise<void> {
  if (!archive.has('META-INF/encryption.xml')) return;
  const methods = (await elementsOf(archive, 'META-INF/encryption.xml')).filter(({ name }) => name === 'EncryptionMethod');
  if (!methods.every(({ attributes }) => FONT_OBFUSCATION.test(attributes['Algorithm'] ?? ''))) throw new EngineFailure('unsupported_feature');
}

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

/** All elements of a small XML file, in order, with the text right after each start. Entities of its own are not expanded. */
async function elementsOf(archive: Archive, file: string): Promise<readonly Element[]> {
  const elements: Element[] = [];
  const parser = new Parser(
    {
      onopentag: (name, attributes) => elements.push({ name: name.slice(name.indexOf(':') + 1), attributes, text: '' }),
      ontext: (text) => {
        const last = elements.at(-1);
        if (last) last.text += text;
      },
    },
    { xmlMode: true },
  );
  parser.end((await archive.read(file)).toString('utf8'));
  return elements;
}

function textOf(elements: readonly Element[], name: string): string {
  return elements.find((element) => element.name === name)?.text.trim() ?? '';
}
