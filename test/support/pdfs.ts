/** A PDF of these objects, the first of which is the catalog; with a proper cross-reference table. */
export function pdfOf(objects: readonly (string | Buffer)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const offsets: number[] = [];
  let offset = parts[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    offsets.push(offset);
    const bytes = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), typeof object === 'string' ? Buffer.from(object, 'latin1') : object, Buffer.from('\nendobj\n')]);
    parts.push(bytes);
    offset += bytes.length;
  }
  const table = offsets.map((value) => `${String(value).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size} /Root 1 0 R ${trailer}>>\nstartxref\n${offset}\n%%EOF\n`, 'latin1'));
  return Buffer.concat(parts);
}

/** A stream object; `dictionary` is what it has besides its length. */
export function pdfStream(content: string | Buffer, dictionary = ''): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content;
  return Buffer.concat([Buffer.from(`<</Length ${bytes.length} ${dictionary}>>\nstream\n`, 'latin1'), bytes, Buffer.from('\nendstream')]);
}

/** One page with a line of text; further entries for the catalog and the page, and further objects from number 6. */
export function onePage(text: string, { catalog = '', page = '', mediaBox = '0 0 595 842', objects = [] }: { catalog?: string; page?: string; mediaBox?: string; objects?: readonly (string | Buffer)[] } = {}): Buffer {
  return pdfOf([
    `<</Type /Catalog /Pages 2 0 R ${catalog}>>`,
    '<</Type /Pages /Kids [3 0 R] /Count 1>>',
    `<</Type /Page /Parent 2 0 R /MediaBox [${mediaBox}] /Contents 4 0 R /Resources <</Font <</F 5 0 R>>>> ${page}>>`,
    pdfStream(`BT /F 18 Tf 72 700 Td (${text}) Tj ET`),
    '<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>',
    ...objects,
  ]);
}
