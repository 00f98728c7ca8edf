/**
 * The rows of a csv, one after the other (RFC 4180, and what is found in the wild): a quote in the middle of a cell is a
 * quote, what follows a closing quote belongs to the cell, and a quote that is never closed ends with the text. Lines
 * that are empty are rows of one empty cell.
 */
export function* readRows(text: string, delimiter: string): Generator<readonly string[]> {
  // Sticky: reads up to the next character that means something, without looking at any character twice.
  const plain = new RegExp(`[^\\r\\n${delimiter}]*`, 'y');
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      const quoted = readQuoted(text, at + 1);
      cell = quoted.cell;
      at = quoted.end;
    }
    plain.lastIndex = at;
    const rest = plain.exec(text)?.[0] ?? '';
    row.push(cell + rest);
    at += rest.length;
    if (text[at] === delimiter) {
      at += 1;
      if (at === text.length) row.push('');
      continue;
    }
    at += text[at] === '\r' && text[at + 1] === '\n' ? 2 : 1;
    yield row;
    row = [];
  }
  if (row.length > 0) yield row;
}

function readQuoted(text: string, start: number): { readonly cell: string; readonly end: number } {
  const parts: string[] = [];
  let from = start;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return { cell: [...parts, text.slice(from)].join('"'), end: text.length };
    parts.push(text.slice(from, quote));
    if (text[quote + 1] !== '"') return { cell: parts.join('"'), end: quote + 1 };
    from = quote + 2;
  }
}
