/** Bytes in which a page has to say what it is written in, as the standard has it. */
const HEAD_BYTES = 1024;

/** The encoding that a page names in its XML declaration or its meta element; undefined when it does not. */
export function declaredCharset(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const xml = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head);
  const meta = /<meta[^>]{0,300}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head);
  return (xml ?? meta)?.[1];
}

/** True when a page is to be read by the rules of XML. */
export function isXhtml(text: string): boolean {
  const head = text.slice(0, HEAD_BYTES).trimStart();
  return head.startsWith('<?xml') && /<html\b[^>]*\bxmlns\s*=/i.test(head);
}
