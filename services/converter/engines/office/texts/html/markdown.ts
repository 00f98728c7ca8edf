import TurndownService from 'turndown';
import type { Page } from './page.ts';

/** What we look at of the tree that the library builds. */
interface TreeNode {
  readonly nodeName: string;
  readonly parentNode: TreeNode | null;
  readonly previousSibling: TreeNode | null;
  readonly firstChild: TreeNode | null;
  readonly textContent: string | null;
  hasChildNodes(): boolean;
}

/** The page as Markdown with the tables of GitHub; what Markdown has no sign for becomes its text. */
export function pageToMarkdown({ body }: Page): string {
  const service = new TurndownService({ headingStyle: 'atx', hr: '---', bulletListMarker: '-', codeBlockStyle: 'fenced', emDelimiter: '*' });
  service.addRule('struck', { filter: ['del', 's', 'strike'], replacement: (content) => (content.trim() === '' ? content : `~~${content}~~`) });
  // Office programs keep distance by paragraphs with nothing in them.
  service.addRule('paragraph', { filter: 'p', replacement: (content) => (content.trim() === '' ? '' : `\n\n${content}\n\n`) });
  // Office programs put every item into a paragraph, which would stand apart from the next.
  service.addRule('item', {
    filter: (node: TreeNode) => node.nodeName === 'P' && node.parentNode?.nodeName === 'LI',
    replacement: (content, node: TreeNode) => (node.previousSibling === null ? content : `\n\n${content}`),
  });
  service.addRule('preformatted', {
    filter: (node: TreeNode) => node.nodeName === 'PRE' && node.firstChild?.nodeName !== 'CODE',
    replacement: (_, node: TreeNode) => fenced(node.textContent ?? ''),
  });
  service.addRule('cell', { filter: ['td', 'th'], replacement: (content) => ` ${cellText(content)} |` });
  service.addRule('row', { filter: 'tr', replacement: (content, node: TreeNode) => (content.trim() === '' ? '' : `|${content}\n${isFirstRow(node) ? `|${' --- |'.repeat(content.split(/(?<!\\)\|/).length - 1)}\n` : ''}`) });
  service.addRule('rows', { filter: ['tbody', 'thead', 'tfoot', 'colgroup', 'caption'], replacement: (content) => content });
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  return `${service.turndown(body).trim()}\n`;
}

/** A block that shows all its characters as they are; its fence is longer than any in it. */
function fenced(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `\n\n${fence}\n${text.replace(/\n$/, '')}\n${fence}\n\n`;
}

/** A cell of Markdown is one line, in which a bar would end it. */
function cellText(content: string): string {
  return content.trim().replaceAll(/(?<!\\)\|/g, '\\|').replaceAll(/\s*\n\s*/g, '<br>');
}

/** Markdown has no table without a heading, so the first row is it. */
function isFirstRow(row: TreeNode): boolean {
  for (let above: TreeNode | null = row; above !== null && above.nodeName !== 'TABLE'; above = above.parentNode) {
    for (let before = above.previousSibling; before !== null; before = before.previousSibling) {
      if (before.nodeName === 'TR' || (/^T(HEAD|BODY)$/.test(before.nodeName) && before.hasChildNodes())) return false;
    }
  }
  return true;
}
