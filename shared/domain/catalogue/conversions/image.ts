import type { Conversions } from './conversions.ts';

/** What the image engine converts: all that the prebuilt sharp decodes and encodes. */
export const IMAGE_CONVERSIONS: readonly Conversions[] = [
  {
    engine: 'image',
    tools: ['sharp'],
    inputs: ['avif', 'gif', 'jpg', 'png', 'svg', 'tiff', 'webp'],
    outputs: ['avif', 'gif', 'jpg', 'png', 'tiff', 'webp'],
    toItself: true,
    minutes_max: 1,
  },
];
