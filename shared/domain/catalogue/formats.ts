/** What a format is, as far as pricing is concerned (§2.7). */
export type Category = 'image' | 'document' | 'spreadsheet' | 'presentation' | 'pdf' | 'audio' | 'video' | 'iwork' | 'archive';

interface Format {
  /** Other spellings that clients use for the same format (D21). */
  readonly aliases: readonly string[];
  /** The Content-Type under which results are served (§2.2). */
  readonly mime: string;
  readonly category: Category;
}

/** Every format that an engine reads or writes; `conversions/` says which engine turns what into what. */
export const FORMATS = {
  aac: { aliases: [], mime: 'audio/aac', category: 'audio' },
  aiff: { aliases: ['aif', 'aifc'], mime: 'audio/aiff', category: 'audio' },
  avi: { aliases: [], mime: 'video/x-msvideo', category: 'video' },
  avif: { aliases: [], mime: 'image/avif', category: 'image' },
  bmp: { aliases: ['dib'], mime: 'image/bmp', category: 'image' },
  csv: { aliases: [], mime: 'text/csv', category: 'spreadsheet' },
  doc: { aliases: ['dot'], mime: 'application/msword', category: 'document' },
  docx: { aliases: [], mime: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', category: 'document' },
  epub: { aliases: [], mime: 'application/epub+zip', category: 'document' },
  flac: { aliases: [], mime: 'audio/flac', category: 'audio' },
  flv: { aliases: [], mime: 'video/x-flv', category: 'video' },
  gif: { aliases: [], mime: 'image/gif', category: 'image' },
  heic: { aliases: ['heif', 'hif'], mime: 'image/heic', category: 'image' },
  html: { aliases: ['htm', 'xhtml'], mime: 'text/html', category: 'document' },
  ico: { aliases: [], mime: 'image/vnd.microsoft.icon', category: 'image' },
  jp2: { aliases: ['jpx'], mime: 'image/jp2', category: 'image' },
  jpg: { aliases: ['jpeg', 'jpe', 'jfif'], mime: 'image/jpeg', category: 'image' },
  jxl: { aliases: [], mime: 'image/jxl', category: 'image' },
  key: { aliases: [], mime: 'application/vnd.apple.keynote', category: 'iwork' },
  m4a: { aliases: [], mime: 'audio/mp4', category: 'audio' },
  md: { aliases: ['markdown'], mime: 'text/markdown', category: 'document' },
  mkv: { aliases: [], mime: 'video/x-matroska', category: 'video' },
  mov: { aliases: ['qt'], mime: 'video/quicktime', category: 'video' },
  mp3: { aliases: [], mime: 'audio/mpeg', category: 'audio' },
  mp4: { aliases: ['m4v'], mime: 'video/mp4', category: 'video' },
  mpg: { aliases: ['mpeg'], mime: 'video/mpeg', category: 'video' },
  numbers: { aliases: [], mime: 'application/vnd.apple.numbers', category: 'iwork' },
  odp: { aliases: [], mime: 'application/vnd.oasis.opendocument.presentation', category: 'presentation' },
  ods: { aliases: [], mime: 'application/vnd.oasis.opendocument.spreadsheet', category: 'spreadsheet' },
  odt: { aliases: [], mime: 'application/vnd.oasis.opendocument.text', category: 'document' },
  ogg: { aliases: ['oga'], mime: 'audio/ogg', category: 'audio' },
  opus: { aliases: [], mime: 'audio/ogg', category: 'audio' },
  pages: { aliases: [], mime: 'application/vnd.apple.pages', category: 'iwork' },
  pcx: { aliases: [], mime: 'image/vnd.zbrush.pcx', category: 'image' },
  pdf: { aliases: [], mime: 'application/pdf', category: 'pdf' },
  png: { aliases: [], mime: 'image/png', category: 'image' },
  ppm: { aliases: ['pnm', 'pgm', 'pbm'], mime: 'image/x-portable-anymap', category: 'image' },
  ppt: { aliases: ['pps'], mime: 'application/vnd.ms-powerpoint', category: 'presentation' },
  pptx: { aliases: ['ppsx'], mime: 'application/vnd.openxmlformats-officedocument.presentationml.presentation', category: 'presentation' },
  psd: { aliases: [], mime: 'image/vnd.adobe.photoshop', category: 'image' },
  qoi: { aliases: [], mime: 'image/qoi', category: 'image' },
  rtf: { aliases: [], mime: 'application/rtf', category: 'document' },
  svg: { aliases: [], mime: 'image/svg+xml', category: 'image' },
  tga: { aliases: [], mime: 'image/x-tga', category: 'image' },
  tiff: { aliases: ['tif'], mime: 'image/tiff', category: 'image' },
  txt: { aliases: ['text'], mime: 'text/plain', category: 'document' },
  wav: { aliases: ['wave'], mime: 'audio/wav', category: 'audio' },
  webm: { aliases: [], mime: 'video/webm', category: 'video' },
  webp: { aliases: [], mime: 'image/webp', category: 'image' },
  wma: { aliases: [], mime: 'audio/x-ms-wma', category: 'audio' },
  wmv: { aliases: [], mime: 'video/x-ms-wmv', category: 'video' },
  xls: { aliases: ['xlt'], mime: 'application/vnd.ms-excel', category: 'spreadsheet' },
  xlsx: { aliases: [], mime: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', category: 'spreadsheet' },
  xpm: { aliases: [], mime: 'image/x-xpixmap', category: 'image' },
  zip: { aliases: [], mime: 'application/zip', category: 'archive' },
} as const satisfies Record<string, Format>;

/** The one spelling of a format inside the service; also the file name extension of a result, without the dot. */
export type FormatName = keyof typeof FORMATS;

/** All formats, in alphabetical order. */
export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[];

const SPELLINGS: ReadonlyMap<string, FormatName> = new Map(
  FORMAT_NAMES.flatMap((name) => [name, ...FORMATS[name].aliases].map((spelling) => [spelling, name] as const)),
);

/** The format that a client's spelling means, in any case and by any alias; undefined when no engine knows it (D21). */
export function normalizeFormat(text: string): FormatName | undefined {
  return SPELLINGS.get(text.toLowerCase());
}

/** The formats of a category, in alphabetical order. */
export function formatsOf(category: Category): readonly FormatName[] {
  return FORMAT_NAMES.filter((name) => FORMATS[name].category === category);
}

/** The Content-Type of a format. */
export function mimeOf(format: FormatName): string {
  return FORMATS[format].mime;
}

/** The file name extension of a format, without the dot. */
export function extensionOf(format: FormatName): string {
  return format;
}
