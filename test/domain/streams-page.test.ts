import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { CONSUMERS, STREAMS } from '../../streams/consumers.ts';

describe('the page about streams and consumers', () => {
  const rows = readFileSync(join(findProjectRoot(), 'streams/README.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));

  it('lists every stream with its owner', () => {
    const listed = rows.filter((cells) => cells.length === 7).map((cells) => [cells[1], cells[3]]);
    expect(listed).to.have.deep.members(STREAMS.map(({ name, owner }) => [name, owner]));
  });

  it('lists every consumer with its stream and messages', () => {
    const listed = rows.filter((cells) => cells.length === 6).map((cells) => [cells[1], cells[2], cells[3]]);
    expect(listed).to.have.deep.members(CONSUMERS.map(({ durable, stream, filters }) => [durable, stream, filters.map(lastWord).join(', ')]));
  });
});

/** The type of event or kind of timer that a filter lets through. */
function lastWord(filter: string): string {
  return filter.replace('.>', '').split('.').at(-1) ?? '';
}
