/** A Debian package that conversions need. */
export interface EnginePackage {
  readonly name: string;
  /** Programs of it that do as well when they are there by other means; none for fonts. */
  readonly programs: readonly string[];
}

/** What conversions need besides LibreOffice. */
export const ENGINE_PACKAGES: readonly EnginePackage[] = [
  { name: 'ffmpeg', programs: ['ffmpeg', 'ffprobe'] },
  { name: 'poppler-utils', programs: ['pdftotext', 'pdftoppm', 'pdftocairo', 'pdftohtml', 'pdfinfo'] },
  { name: 'qpdf', programs: ['qpdf'] },
  { name: 'bubblewrap', programs: ['bwrap'] },
  { name: 'fonts-liberation', programs: [] },
  { name: 'fonts-crosextra-carlito', programs: [] },
  { name: 'fonts-crosextra-caladea', programs: [] },
  { name: 'fonts-dejavu-core', programs: [] },
];

/** LibreOffice without its windows. The last but one has descriptions of dialogues without which comments make it abort. */
export const OFFICE_PACKAGES: readonly string[] = ['libreoffice-writer-nogui', 'libreoffice-calc-nogui', 'libreoffice-impress-nogui', 'libreoffice-uiconfig-writer', 'python3-uno'];

/** The same with its windows, for releases that do not have those descriptions as a package of their own. */
export const DESKTOP_OFFICE_PACKAGES: readonly string[] = ['libreoffice-writer', 'libreoffice-calc', 'libreoffice-impress', 'libreoffice-draw', 'python3-uno'];

/** Fonts of the scripts of the world, for documents that are not in Latin, Greek or Cyrillic letters; 150 MB. */
export const NOTO_PACKAGES: readonly string[] = ['fonts-noto-core', 'fonts-noto-cjk', 'fonts-noto-color-emoji'];

/** LibreOffice from which on documents convert twice as fast, and some that used to hang. */
export const OFFICE_VERSION_WANTED = [25, 2] as const;
