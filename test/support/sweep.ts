import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { TestService } from './service.ts';

/** Everything a service keeps, and what it said (`output`), by name. */
export async function keptBy(service: TestService, output: string): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>([['output', Buffer.from(output)]]);
  for (const path of await filesIn(service.dataDir)) {
    // The demo keys are there to be read; sources and results are the client's files, not what it typed.
    if (path.endsWith('demo.json') || path.includes('/objects/source/') || path.includes('/objects/result/')) continue;
    found.set(path.slice(service.dataDir.length + 1), await readFile(path).catch(() => Buffer.alloc(0)));
  }
  const database = new pg.Client({ connectionString: service.addresses.databaseUrl });
  await database.connect();
  try {
    const { rows: tables } = await database.query<{ name: string }>(`select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')`);
    for (const { name } of tables) {
      const { rows } = await database.query(`select row_to_json(t)::text as row from ${name} t`);
      found.set(`row of ${name.replace('public.', '')}`, Buffer.from(JSON.stringify(rows)));
    }
  } finally {
    await database.end();
  }
  return found;
}

/** Where any of the texts stands: plain, in base64 at any offset, in hex, in UTF-16, or as a URL would write it. */
export function findIn(places: ReadonlyMap<string, Buffer>, texts: readonly (string | Buffer)[]): readonly string[] {
  const spellings = texts.flatMap((text) => (typeof text === 'string' ? spell(text) : [text]));
  return [...places].filter(([, bytes]) => spellings.some((spelling) => bytes.includes(spelling))).map(([name]) => name);
}

function spell(text: string): readonly Buffer[] {
  const shifted = ['', 'a', 'ab'].map((before) => {
    // The characters that the neighbours have a share in are cut off.
    const whole = Buffer.from(before + text).toString('base64').replaceAll('=', '');
    return whole.slice(before.length === 0 ? 0 : before.length + 1, -2);
  });
  const urlSafe = shifted.map((part) => part.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = Buffer.from(text).toString('hex');
  return [...[text, text.toLowerCase(), encodeURIComponent(text), hex, hex.toUpperCase(), ...shifted, ...urlSafe].map((part) => Buffer.from(part)), Buffer.from(text, 'utf16le')];
}

/** Every file below a folder. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
