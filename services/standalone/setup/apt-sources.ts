import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A package archive that this machine is configured with. */
export interface AptSource {
  readonly uri: string;
  readonly suites: readonly string[];
  readonly components: readonly string[];
  /** What vouches for it: the value of Signed-By, a path or a whole key; undefined for the machine's trusted keys. */
  readonly signedBy: string | undefined;
}

/** Reads the sources below a folder such as `/etc/apt`, in both spellings; unreadable files are left out. */
export async function readAptSources(folder: string): Promise<AptSource[]> {
  const parts = (await readdir(join(folder, 'sources.list.d')).catch(() => [])).map((name) => join(folder, 'sources.list.d', name));
  const sources: AptSource[] = [];
  for (const file of [join(folder, 'sources.list'), ...parts]) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (file.endsWith('.sources')) sources.push(...parseDeb822(text));
    if (file.endsWith('.list')) sources.push(...parseOneLine(text));
  }
  return sources;
}

/** The newer spelling: stanzas of `Field: value`, where a line that begins with a blank continues the one before. */
export function parseDeb822(text: string): AptSource[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  return lines.join('\n').split(/\n\s*\n/).flatMap((stanza) => {
    const fields = new Map<string, string>();
    let name = '';
    for (const line of stanza.split('\n')) {
      const field = /^([\w-]+):\s*(.*)$/.exec(line);
      if (field !== null) fields.set((name = (field[1] ?? '').toLowerCase()), field[2] ?? '');
      else if (/^\s/.test(line)) fields.set(name, `${fields.get(name) ?? ''}\n${line}`);
    }
    if (/^no$/i.test(fields.get('enabled')?.trim() ?? '') || !words(fields.get('types')).includes('deb')) return [];
    const common = { suites: words(fields.get('suites')), components: words(fields.get('components')), signedBy: fields.get('signed-by') };
    return words(fields.get('uris')).map((uri) => ({ uri, ...common }));
  });
}

/** The older spelling: `deb [option=value ...] uri suite component ...`. */
export function parseOneLine(text: string): AptSource[] {
  return text.split('\n').flatMap((line) => {
    const [, options = '', rest = ''] = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?([^#]*)/.exec(line) ?? [];
    const [uri, suite, ...components] = words(rest);
    if (uri === undefined || suite === undefined) return [];
    const signedBy = words(options).find((option) => option.startsWith('signed-by='))?.slice('signed-by='.length).replaceAll(',', ' ');
    return [{ uri, suites: [suite], components, signedBy }];
  });
}

function words(text: string | undefined): string[] {
  return (text ?? '').split(/\s+/).filter((word) => word !== '');
}
