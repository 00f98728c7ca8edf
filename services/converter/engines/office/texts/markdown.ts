import MarkdownIt from 'markdown-it';
import { cleanPage, type Reading } from './html/clean.ts';
import type { Page } from './html/page.ts';

/** What programs that keep many notes put before the text; only its title means something to a reader. */
const FRONT_MATTER = /^---[ \t]*\r?\n(?:[^]{0,20000}?\r?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

const TITLE = /^title:[ \t]*["']?(.{1,200}?)["']?[ \t]*$/m;

/** Reads Markdown (CommonMark, with tables and strikethrough). HTML in it is cleaned as any page is, see `cleanPage`. */
export function readMarkdown(text: string, reading: Reading): Page {
  const front = FRONT_MATTER.exec(text)?.[0] ?? '';
  const markdown = new MarkdownIt({ html: true, linkify: true });
  markdown.renderer.rules['table_open'] = () => '<table border="1" cellspacing="0" cellpadding="4">\n';
  const page = cleanPage(markdown.render(text.slice(front.length)), reading);
  const title = TITLE.exec(front)?.[1] ?? /^#[ \t]+(.{1,200}?)[ \t#]*$/m.exec(text.slice(front.length))?.[1] ?? '';
  return { ...page, title };
}
