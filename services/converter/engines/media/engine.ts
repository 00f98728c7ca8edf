import type { Engine } from '../engine.ts';
import { convertMedia } from './convert.ts';
import { probeFfmpeg } from './probe.ts';

/** Converts recordings and films with ffmpeg, each in a process of its own; `pictures` draws single pictures of films. */
export function createMediaEngine(pictures: Engine): Engine {
  return {
    name: 'media',
    probe: async (sandbox) => ({ ffmpeg: await probeFfmpeg(sandbox) }),
    convert: (request, context) => convertMedia(request, pictures, context),
    stop: () => Promise.resolve(),
  };
}
