import { formatsOf, type FormatName } from '../../../shared/domain/catalogue/formats.ts';

/** The real file of each format that its conversions are judged by; `test/fixtures/files/NOTICE.md` tells where it comes from. */
export const SAMPLES: Partial<Readonly<Record<FormatName, string>>> = {
  ...Object.fromEntries(formatsOf('audio').map((format) => [format, `speech.${format}`])),
  ...Object.fromEntries(formatsOf('video').map((format) => [format, `film.${format}`])),
  avif: 'avif.avif',
  doc: 'header-footer.doc',
  docx: 'cases.docx',
  gif: 'terminal.gif',
  jpg: 'debian_logo.jpg',
  key: 'keynote5-file.key',
  numbers: 'numbers3-file.numbers',
  odp: 'transitions.odp',
  ods: 'ods.ods',
  odt: 'report.odt',
  pages: 'pages5-file.pages',
  pdf: 'a-text.pdf',
  png: 'debian.png',
  ppt: 'slides.ppt',
  pptx: 'officer.pptx',
  rtf: 'letter.rtf',
  svg: 'diagram.svg',
  tiff: 'sample.tif',
  webp: 'terminal.webp',
  xls: 'balances.xls',
  xlsx: 'datasets.xlsx',
};
