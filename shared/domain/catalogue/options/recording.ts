import { flag, number } from './field.ts';

/** Longest time that `start` and `duration` can name, seconds: a day. */
const SECONDS_MAX = 86_400;

/** Which part of a recording is taken; of every target that is made from sound or films. */
export const part = {
  start: number(0, SECONDS_MAX, 'Where to begin, seconds from the start of the recording. Default 0.'),
  duration: number(0.1, SECONDS_MAX, 'How much to take, seconds. Default: to the end.'),
};

/** What is written about a recording beside the recording itself. */
export const keepMetadata = flag(
  'Keep all that the file says about itself, among it where and with what device a film was made. Default false: only titles, artists, albums, numbers, dates, genres, chapters and covers stay.',
);
