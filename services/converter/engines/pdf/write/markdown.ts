import type { Block, Flow, Run } from '../reflow/model.ts';

/** Writes a document as Markdown; pictures are left out, because a text cannot hold them. */
export function writeMarkdown(flow: Flow): string {
  const blocks = flow.pages.flatMap((page) => page.blocks.map((block) => markdownBlock(block)));
  return `${blocks.filter((text) => text !== '').join('\n\n')}\n`;
}

function markdownBlock(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${markdownRuns(block.runs.map((run) => ({ ...run, bold: false })))}`;
    case 'paragraph':
      return guardStart(markdownRuns(block.runs));
    case 'list':
      return block.items.map(({ level, numbering, number, runs }) => `${'    '.repeat(level)}${numbering === 'bullet' ? '-' : `${number}.`} ${markdownRuns(runs)}`).join('\n');
    case 'table':
      return markdownTable(block.rows);
    case 'picture':
      return '';
  }
}

function markdownTable(rows: readonly (readonly (readonly Run[])[])[]): string {
  const lines = rows.map((cells) => `| ${cells.map((runs) => markdownRuns(runs).replaceAll('|', String.raw`\|`)).join(' | ')} |`);
  const [head = '', ...body] = lines;
  return [head, `|${' --- |'.repeat(rows[0]?.length ?? 0)}`, ...body].join('\n');
}

function markdownRuns(runs: readonly Run[]): string {
  return runs.map((run) => markdownRun(run)).join('').replaceAll('\t', ' ').trim();
}

function markdownRun({ text, bold, italic, mono, href }: Run): string {
  const inner = text.trim();
  if (inner === '') return text;
  const [before = '', after = ''] = text.split(inner);
  const mark = mono ? '`' : bold && italic ? '***' : bold ? '**' : italic ? '*' : '';
  const content = mono ? inner.replaceAll('`', "'") : escapeMarkdown(inner);
  const marked = `${mark}${content}${mark}`;
  return `${before}${href === undefined ? marked : `[${marked}](<${href.replaceAll(/[<>]/g, '')}>)`}${after}`;
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]<]/g, String.raw`\$&`);
}

/** What stands at the start of a paragraph must not make it a title, a list or a quotation. */
function guardStart(text: string): string {
  return text.replace(/^(#{1,6} |[-+>] )/, String.raw`\$1`).replace(/^(\d+)([.)] )/, String.raw`$1\$2`);
}
