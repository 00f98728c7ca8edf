import type { Picture, Run } from '../reflow/model.ts';
import type { StyleBook } from './style-book.ts';
import { escapeXml, points } from './xml.ts';

/** Fonts that every office suite has or replaces by one of the same widths. */
export const FONTS = { text: 'Liberation Serif', titles: 'Liberation Sans', mono: 'Liberation Mono' } as const;

const NAMESPACES = {
  office: 'urn:oasis:names:tc:opendocument:xmlns:office:1.0',
  style: 'urn:oasis:names:tc:opendocument:xmlns:style:1.0',
  text: 'urn:oasis:names:tc:opendocument:xmlns:text:1.0',
  table: 'urn:oasis:names:tc:opendocument:xmlns:table:1.0',
  draw: 'urn:oasis:names:tc:opendocument:xmlns:drawing:1.0',
  presentation: 'urn:oasis:names:tc:opendocument:xmlns:presentation:1.0',
  number: 'urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0',
  fo: 'urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0',
  svg: 'urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0',
  xlink: 'http://www.w3.org/1999/xlink',
} as const;

/** The parts of an OpenDocument in one file, as XML. */
export interface FlatDocument {
  readonly kind: 'text' | 'spreadsheet' | 'presentation';
  readonly styles: string;
  readonly automaticStyles: string;
  readonly masterStyles: string;
  readonly body: string;
}

/** A whole OpenDocument in one file. */
export function flatDocument({ kind, styles, automaticStyles, masterStyles, body }: FlatDocument): string {
  const namespaces = Object.entries(NAMESPACES).map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`).join(' ');
  const fonts = Object.values(FONTS).map((font) => `<style:font-face style:name="${font}" svg:font-family="&apos;${font}&apos;"/>`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document ${namespaces} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.${kind}">
<office:font-face-decls>${fonts}</office:font-face-decls>
<office:styles>${styles}</office:styles>
<office:automatic-styles>${automaticStyles}</office:automatic-styles>
<office:master-styles>${masterStyles}</office:master-styles>
<office:body><office:${kind}>${body}</office:${kind}></office:body>
</office:document>
`;
}

/** Text in its styles. `size` is that of its letters where the paragraph does not say it, points. */
export function odfRuns(runs: readonly Run[], styles: StyleBook, size?: number): string {
  return runs.map((run) => odfRun(run, styles, size)).join('');
}

function odfRun({ text, bold, italic, mono, href }: Run, styles: StyleBook, size: number | undefined): string {
  const content = escapeXml(text).replaceAll('\t', '<text:tab/>');
  const properties = [
    bold ? 'fo:font-weight="bold"' : '',
    italic ? 'fo:font-style="italic"' : '',
    mono ? `style:font-name="${FONTS.mono}"` : '',
    size === undefined ? '' : `fo:font-size="${points(size)}"`,
  ].filter((property) => property !== '').join(' ');
  const span = properties === '' ? content : `<text:span text:style-name="${styles.name('text', `<style:text-properties ${properties}/>`)}">${content}</text:span>`;
  return href === undefined ? span : `<text:a xlink:type="simple" xlink:href="${escapeXml(href)}">${span}</text:a>`;
}

/** A picture inside of its frame. */
export function odfPicture({ mime, bytes }: Picture): string {
  return `<draw:image draw:mime-type="${mime}"><office:binary-data>${bytes.toString('base64')}</office:binary-data></draw:image>`;
}
