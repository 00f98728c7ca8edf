/** What a recording is called and who made it; nothing of where, when to the minute, or with what device. */
const KEPT = ['title', 'artist', 'album', 'album_artist', 'composer', 'performer', 'genre', 'track', 'disc', 'date', 'year', 'language', 'copyright', 'publisher'] as const;

/** The same names as ffprobe is asked for them; some formats spell them in capitals. */
export const TAG_NAMES = KEPT.flatMap((name) => [name, name.toUpperCase()]).join(',');

/** Characters of one value that are kept; a title is shorter, and a song's text is not asked for. */
const VALUE_MAX = 1_000;

/** Names in small letters, and their values. */
export type Tags = ReadonlyMap<string, string>;

/** Puts together what a file says about itself in several places; the first place counts. */
export function tagsFrom(places: readonly (Readonly<Record<string, string>> | undefined)[]): Tags {
  const tags = new Map<string, string>();
  for (const place of places) {
    for (const [name, value] of Object.entries(place ?? {})) {
      const key = name.toLowerCase();
      if (KEPT.some((kept) => kept === key) && !tags.has(key)) tags.set(key, value.slice(0, VALUE_MAX));
    }
  }
  return tags;
}

/** The tags in ffmpeg's own format for them, in which a few characters are escaped; so none ever stands in a command line. */
export function tagFile(tags: Tags): string {
  const lines = [...tags].map(([name, value]) => `${name}=${value.replaceAll('\0', '').replaceAll(/[=;#\\\n]/g, String.raw`\$&`)}`);
  return [';FFMETADATA1', ...lines, ''].join('\n');
}
