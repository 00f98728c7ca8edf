import { FORMATS, type Category, type FormatName } from '../../shared/domain/catalogue/formats.ts';

/** What people want of a kind of file, most wanted first. */
const WANTED: Readonly<Record<Category, readonly FormatName[]>> = {
  document: ['pdf', 'docx', 'odt', 'txt', 'html'],
  spreadsheet: ['xlsx', 'pdf', 'csv', 'ods'],
  presentation: ['pdf', 'pptx', 'odp', 'png'],
  iwork: ['pdf', 'docx', 'xlsx', 'pptx'],
  pdf: ['txt', 'docx', 'png', 'jpg'],
  image: ['jpg', 'webp', 'png', 'pdf'],
  audio: ['mp3', 'wav'],
  video: ['mp4', 'mp3'],
  archive: [],
};

/** Every second file gets what is most wanted, the others take turns. */
const FAVOURED_OF = 2;

/** The target for the file at a place in the list, out of the offered ones; undefined when there is none. */
export function chooseTarget(format: FormatName, index: number, isOffered: (target: FormatName) => boolean): FormatName | undefined {
  const targets = WANTED[FORMATS[format].category].filter((target) => target !== format && isOffered(target));
  const [first, ...others] = targets;
  return index % FAVOURED_OF === 0 || others.length === 0 ? first : others[Math.floor(index / FAVOURED_OF) % others.length];
}
