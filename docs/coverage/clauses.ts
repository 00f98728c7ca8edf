import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A clause of the contract, or a decision about what it leaves open, under the name by which tests cite it. Those that a
 * client can observe are required to have a test.
 */
export type Clause = { readonly id: string; readonly text: string; readonly required: boolean };

type Found = Omit<Clause, 'required'>;

/** Sections whose every clause must have a test. */
const REQUIRED = /^(?:§(?:2\.[1-7]|4\.[4-6]|[35789]\.\d)|§4\.[1-6] |§6|§[78] |D)/;
/** How the service is built or will change rather than what it answers; other documents and tests hold it. */
const NOT_OBSERVABLE: ReadonlySet<string> = new Set(['§4.1', '§4.2', '§4.3', '§9.3', '§9.4', 'D56', 'D84', 'D85', 'D86', 'D87', 'D88', 'D89', 'D90', 'D95', 'D97', 'D98']);

const folder = join(import.meta.dirname, '../contract');

/** Every clause there is, in the order of the documents. */
export function readClauses(): readonly Clause[] {
  const contract = clausesOfContract(readFileSync(join(folder, 'api-specification.md'), 'utf8'));
  const decisions = clausesOfDecisions(readFileSync(join(folder, 'decisions.md'), 'utf8'));
  return [...contract, ...decisions].map((found) => ({ ...found, required: isRequired(found.id) }));
}

function isRequired(id: string): boolean {
  return REQUIRED.test(id) && !NOT_OBSERVABLE.has(id);
}

/**
 * Sections by their number (`§4.4`), numbered sentences (`§5.9`, `§8 rate limits 3`), endpoints (`§4.3 GET /jobs`),
 * transitions in the order of their rows (`§3.1`), events and their parts (`§6 job.failed`, `§6 delivery 3`), errors
 * (`§7 not_found 404`) and limits (`§8 tag`).
 */
function clausesOfContract(text: string): Found[] {
  const clauses: Found[] = [];
  let section = '';
  let heading = '';
  let header: readonly string[] = [];
  let row = 0;
  for (const line of text.split('\n')) {
    const title = /^#{2,3} (?:(\d(?:\.\d)?)\.? )?(.+)$/.exec(line);
    if (title) {
      const [, number, words = ''] = title;
      if (number !== undefined) section = `§${number}`;
      heading = number === undefined ? words.replace(/ rules$/, '') : '';
      if (number !== undefined) clauses.push({ id: section, text: words });
      else if (section === '§6') clauses.push({ id: `§6 ${firstWord(heading)}`, text: words });
      continue;
    }
    const item = /^(\d+)\. (.+)$/.exec(line);
    if (item) clauses.push({ id: numbered(section, heading, item[1] ?? ''), text: item[2] ?? '' });
    if (!line.startsWith('|')) {
      header = [];
      continue;
    }
    const cells = line.split('|').slice(1, -1).map((cell) => cell.trim());
    if (header.length === 0) [header, row] = [cells, 0];
    else if (!/^-+$/.test(cells[0] ?? '')) clauses.push(...ofRow(section, header, cells, (row += 1)));
  }
  return clauses;
}

function numbered(section: string, heading: string, number: string): string {
  if (section === '§8' && heading !== '') return `§8 ${heading.toLowerCase()} ${number}`;
  return section === '§6' ? `§6 ${firstWord(heading)} ${number}` : `${section}.${number}`;
}

/** Two lists of §6 are numbered from 1, each below a heading of its own. */
function firstWord(heading: string): string {
  return heading.split(' ')[0]?.toLowerCase() ?? '';
}

function ofRow(section: string, header: readonly string[], cells: readonly string[], row: number): Found[] {
  const [first = '', second = ''] = cells;
  if (header[0] === 'Method') return [{ id: `${section} ${first} ${second}`, text: cells.slice(2).join(' · ') }];
  if (header[0] === 'From') return [{ id: `${section}.${row}`, text: cells.filter((cell) => cell !== '').join(' · ') }];
  if (header[0] === 'Event') return [{ id: `${section} ${first}`, text: second }];
  if (header[0] === 'Code') return [{ id: `${section} ${first} ${second}`, text: cells.slice(2).join(' · ') }];
  if (header[0] === 'Limit') return [{ id: `${section} ${first.toLowerCase().replaceAll('`', '')}`, text: second }];
  return [];
}

function clausesOfDecisions(text: string): Found[] {
  return [...text.matchAll(/^- \*\*(D\d+)\.(?:\*\*)? (.+)$/gm)].map(([, id = '', words = '']) => ({ id, text: words }));
}
