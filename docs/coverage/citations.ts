import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A test, or a group of tests, that names clauses in its title. */
export type Citation = { readonly id: string; readonly file: string; readonly title: string };

const root = join(import.meta.dirname, '../..');
/** Title of a test or a group, in any quotes. */
const TITLE = /\b(?:describe|it)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g;
/** Clauses stand in parentheses: `(§4.4, D43)`. */
const CITED = /\(((?:§|D\d)[^()]*(?:\([^()]*\)[^()]*)*)\)/g;

/** Every clause that a title cites, in the order of the files. */
export function readCitations(): readonly Citation[] {
  return testFiles(join(root, 'test')).flatMap((path) => {
    const file = relative(root, path);
    return [...readFileSync(path, 'utf8').matchAll(TITLE)].flatMap(([, , title = '']) =>
      [...title.matchAll(CITED)].flatMap(([, cited = '']) => cited.split(', ').map((id) => ({ id, file, title: title.replaceAll(CITED, '').trim() }))),
    );
  });
}

function testFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return testFiles(path);
      // Behaviour suites that several implementations share are called by test files and do not end like them.
      return entry.name.endsWith('.ts') ? [path] : [];
    });
}
