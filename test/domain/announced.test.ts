import { expect } from 'chai';
import { SILENT_MS_MAX } from '../../shared/converters/announcement.ts';
import { Announced } from '../../shared/converters/announced.ts';

const NOW_MS = 1_800_000_000_000;
const IMAGES = said('sharp');
const ALL = said('sharp', 'libreoffice');

function said(...tools: readonly string[]) {
  return { tools: Object.fromEntries(tools.map((tool) => [tool, '1.0'])), announced_at: '2026-11-21T09:30:00.000Z' };
}

describe('what converters have announced (§4.1 GET /operations)', () => {
  let announced: Announced;

  beforeEach(() => {
    announced = new Announced();
  });

  it('is nothing before the first one has spoken', () => {
    expect(announced.toolSets()).to.deep.equal([]);
  });

  it('is what each of those can do that are there, so that two halves make no whole', () => {
    announced.hear('a', said('poppler', 'sharp'), NOW_MS);
    announced.hear('b', said('libreoffice'), NOW_MS + 1);
    announced.hear('c', said('sharp', 'poppler'), NOW_MS + 2);
    expect(announced.toolSets()).to.deep.equal([['libreoffice'], ['poppler', 'sharp']]);
  });

  it('loses a converter when others went on without it for long enough, and no sooner', () => {
    announced.hear('with office', ALL, NOW_MS);
    announced.hear('without', IMAGES, NOW_MS + SILENT_MS_MAX);
    expect(announced.toolSets()).to.deep.equal([['libreoffice', 'sharp'], ['sharp']]);
    announced.hear('without', IMAGES, NOW_MS + SILENT_MS_MAX + 1);
    expect(announced.toolSets()).to.deep.equal([['sharp']]);
  });

  it('stays as it was while no converter is there at all, however long', () => {
    announced.hear('a', ALL, NOW_MS);
    announced.hear('b', IMAGES, NOW_MS + 1_000);
    expect(announced.toolSets()).to.deep.equal([['libreoffice', 'sharp'], ['sharp']]);
    // After a restart of the api the bucket says the same once more.
    const later = new Announced();
    later.hear('gone long before', said('ffmpeg'), NOW_MS - SILENT_MS_MAX - 1);
    later.hear('a', ALL, NOW_MS);
    later.hear('b', IMAGES, NOW_MS + 1_000);
    expect(later.toolSets()).to.deep.equal(announced.toolSets());
  });

  it('takes a converter at its last word', () => {
    announced.hear('a', ALL, NOW_MS);
    announced.hear('a', IMAGES, NOW_MS + 5_000);
    expect(announced.toolSets()).to.deep.equal([['sharp']]);
  });

  it('hears old words again without forgetting the new ones', () => {
    announced.hear('b', IMAGES, NOW_MS + SILENT_MS_MAX + 1);
    announced.hear('a', ALL, NOW_MS);
    expect(announced.toolSets()).to.deep.equal([['sharp']]);
  });
});
