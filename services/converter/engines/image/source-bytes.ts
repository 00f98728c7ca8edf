import { readFile } from 'node:fs/promises';
import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import { readIcon } from './icon-read.ts';

/** A picture in a format that sharp decodes. */
export interface Readable {
  /** A buffer, because libvips would let an SVG that is opened by its path read its neighbours. */
  readonly bytes: Buffer;
  readonly format: FormatName;
}

/**
 * Reads a source and unpacks what sharp does not decode.
 * @throws EngineFailure when it cannot be unpacked.
 */
export async function readSource(path: string, input: FormatName): Promise<Readable> {
  const bytes = await readFile(path);
  switch (input) {
    case 'heic': {
      // Loaded where it is needed: it takes longer than to make a thumbnail.
      const { readHeic } = await import('./heic.ts');
      return { bytes: await readHeic(bytes), format: 'png' };
    }
    case 'ico':
      return { bytes: await readIcon(bytes), format: 'png' };
    default:
      return { bytes, format: input };
  }
}
