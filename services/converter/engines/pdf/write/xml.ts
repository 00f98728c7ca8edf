/** Text as it may stand between tags and in attributes. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A length in points as ODF writes it. */
export function points(value: number): string {
  return `${value.toFixed(2)}pt`;
}
