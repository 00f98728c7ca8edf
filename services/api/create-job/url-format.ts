/** The file extension at the end of a URL's path, in lower case; a dot-file and a dot at the end have none (D21). */
export function formatOfUrl(text: string): string | undefined {
  const pathname = URL.parse(text)?.pathname;
  const segment = pathname === undefined ? undefined : decode(pathname.split('/').at(-1) ?? '');
  const dot = segment?.lastIndexOf('.') ?? -1;
  const extension = segment?.slice(dot + 1).toLowerCase();
  return dot > 0 && extension !== undefined && extension !== '' ? extension : undefined;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
