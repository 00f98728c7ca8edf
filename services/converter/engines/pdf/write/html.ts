import { textOfRuns, type Block, type Flow, type ListItem, type Run } from '../reflow/model.ts';
import { escapeXml } from './xml.ts';

/** Looks like a page and needs nothing from elsewhere. */
const CSS = 'body{max-width:50em;margin:2em auto;padding:0 1em;font-family:sans-serif;line-height:1.4}table{border-collapse:collapse;margin:1em 0}td{border:1px solid #a0a0a0;padding:.2em .5em;vertical-align:top}img{max-width:100%;height:auto}code{font-family:monospace}.center{text-align:center}';

/** Kinds of numbers that HTML knows by these names. */
const LIST_TYPES = { '1': '1', a: 'a', A: 'A', i: 'i', I: 'I' } as const;

/** Writes a document as one page of HTML with all of its pictures inside. */
export function writeHtml(flow: Flow): string {
  const sections = flow.pages.map(({ blocks }) => `<section>\n${blocks.map((block) => htmlBlock(block)).join('\n')}\n</section>`);
  const title = flow.pages.flatMap(({ blocks }) => blocks).find((block) => block.kind === 'heading');
  return `<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<title>${escapeXml(title === undefined ? '' : textOfRuns(title.runs))}</title>
<style>${CSS}</style>
</head>
<body>
${sections.join('\n')}
</body>
</html>
`;
}

function htmlBlock(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}>${htmlRuns(block.runs.map((run) => ({ ...run, bold: false })))}</h${block.level}>`;
    case 'paragraph':
      return `<p${block.centered ? ' class="center"' : ''}>${htmlRuns(block.runs)}</p>`;
    case 'list':
      return htmlList(block.items);
    case 'table':
      return `<table>\n${block.rows.map((cells) => `<tr>${cells.map((runs) => `<td>${htmlRuns(runs)}</td>`).join('')}</tr>`).join('\n')}\n</table>`;
    case 'picture': {
      const { mime, bytes } = block.picture;
      return `<p><img alt="" width="${Math.round((block.box.right - block.box.left) * 4 / 3)}" src="data:${mime};base64,${bytes.toString('base64')}"></p>`;
    }
  }
}

function htmlList(items: readonly ListItem[]): string {
  const lists: ListItem[][] = [];
  for (const item of items) {
    const first = lists.at(-1)?.[0];
    if (first !== undefined && (item.level > first.level || (item.level === first.level && item.numbering === first.numbering))) lists.at(-1)?.push(item);
    else lists.push([item]);
  }
  return lists.map((list) => htmlNested(list)).join('\n');
}

function htmlNested(items: readonly ListItem[]): string {
  const [first] = items;
  if (first === undefined) return '';
  const entries: string[] = [];
  for (let start = 0; start < items.length; ) {
    const item = items[start];
    if (item === undefined) break;
    let end = start + 1;
    while (end < items.length && (items[end]?.level ?? 0) > first.level) end += 1;
    const value = item.numbering === 'bullet' ? '' : ` value="${item.number}"`;
    entries.push(`<li${value}>${htmlRuns(item.runs)}${start + 1 < end ? htmlList(items.slice(start + 1, end)) : ''}</li>`);
    start = end;
  }
  return first.numbering === 'bullet' ? `<ul>${entries.join('\n')}</ul>` : `<ol type="${LIST_TYPES[first.numbering]}">${entries.join('\n')}</ol>`;
}

function htmlRuns(runs: readonly Run[]): string {
  return runs.map(({ text, bold, italic, mono, href }) => {
    let html = escapeXml(text.replaceAll('\t', ' '));
    if (mono) html = `<code>${html}</code>`;
    if (italic) html = `<em>${html}</em>`;
    if (bold) html = `<strong>${html}</strong>`;
    return href === undefined ? html : `<a href="${escapeXml(href)}">${html}</a>`;
  }).join('');
}
