import { z } from 'zod';
import { ORIENTATIONS, PAPERS, type PAPER_SIZES } from '../../../../shared/domain/catalogue/options/office.ts';
import type { Component } from './filters.ts';
import type { PageStyle } from './protocol.ts';

/** Short and long side of a sheet of paper, in hundredths of a millimetre, as the suite counts. */
const PAPER: Readonly<Record<(typeof PAPER_SIZES)[number], readonly [number, number]>> = {
  a3: [29_700, 42_000],
  a4: [21_000, 29_700],
  a5: [14_800, 21_000],
  letter: [21_590, 27_940],
  legal: [21_590, 35_560],
  tabloid: [27_940, 43_180],
};

/** The options of this module; each was checked by the schema of its target. */
const known = z.object({
  paper_size: z.enum(PAPERS).default('original'),
  orientation: z.enum(ORIENTATIONS).default('auto'),
  fit_to_width: z.boolean().default(false),
});

/** What the options ask of every page; undefined when nothing, or when the pages are slides. */
export function pageStyleOf(options: Readonly<Record<string, unknown>>, component: Component): PageStyle | undefined {
  if (component === 'impress') return undefined;
  const { paper_size, orientation, fit_to_width } = known.parse(options);
  const style: PageStyle = {
    ...(paper_size === 'original' ? {} : { paper: PAPER[paper_size] }),
    ...(orientation === 'auto' ? {} : { landscape: orientation === 'landscape' }),
    ...(fit_to_width && component === 'calc' ? { fit_to_width: true } : {}),
  };
  return Object.keys(style).length === 0 ? undefined : style;
}
