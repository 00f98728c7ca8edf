import type { FormatName } from '../formats.ts';
import type { Conversions } from './conversions.ts';

const AUDIO: readonly FormatName[] = ['aac', 'aiff', 'flac', 'm4a', 'mp3', 'ogg', 'opus', 'wav', 'wma'];
const VIDEO: readonly FormatName[] = ['avi', 'flv', 'mkv', 'mov', 'mp4', 'mpg', 'webm', 'wmv'];

/** What the media engine converts: sound to sound, films to films, and out of films their sound, an animation or one picture. */
export const MEDIA_CONVERSIONS: readonly Conversions[] = [
  { engine: 'media', tools: ['ffmpeg'], inputs: [...AUDIO, ...VIDEO], outputs: AUDIO, toItself: true, minutes_max: 2 },
  { engine: 'media', tools: ['ffmpeg'], inputs: VIDEO, outputs: ['avi', 'mkv', 'mov', 'mp4', 'webm'], toItself: true, minutes_max: 5 },
  { engine: 'media', tools: ['ffmpeg'], inputs: VIDEO, outputs: ['gif'], minutes_max: 1 },
  { engine: 'media', tools: ['ffmpeg', 'sharp'], inputs: VIDEO, outputs: ['jpg', 'png', 'webp'], minutes_max: 1 },
  { engine: 'media', tools: ['ffmpeg'], inputs: ['gif'], outputs: ['mov', 'mp4', 'webm'], minutes_max: 2 },
];
