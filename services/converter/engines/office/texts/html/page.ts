import { escapeText } from './escape.ts';

/** A page of which nothing fetches, runs or refers to files; made only by `cleanPage` and by code that escapes all it writes. */
export interface Page {
  readonly title: string;
  /** Language tag, or an empty string. */
  readonly language: string;
  /** Rules of a style sheet. */
  readonly styles: string;
  /** Content of the body. */
  readonly body: string;
}

/** A tag of a language, as pages and books name it. */
export const LANGUAGE = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}$/;

/** The page as one file, in characters that are to be written as UTF-8. */
export function writePage({ title, language, styles, body }: Page): string {
  const lang = LANGUAGE.test(language) ? ` lang="${language}"` : '';
  const sheet = styles === '' ? '' : `<style>\n${styles}\n</style>\n`;
  return `<!DOCTYPE html>\n<html${lang}>\n<head>\n<meta charset="utf-8">\n<title>${escapeText(title.trim())}</title>\n${sheet}</head>\n<body>\n${body.trim()}\n</body>\n</html>\n`;
}
