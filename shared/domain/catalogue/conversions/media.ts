import type { FormatName } from '../formats.ts';
import type { Conversions } from './conversions.ts';

const AUDIO: readonly FormatName[] = ['aac', 'aiff', 'flac', 'm4a', 'mp3', 'ogg', 'opus', 'wav', 'wma'];
const VIDEO: readonly FormatName[] = ['avi', 'flv', 'mkv', 'mov', 'mp4', 'mpg', 'webm', 'wmv'];

/** What the media engine converts: sound to sound, films to films, and out of films their sound, an animation or one picture. */
export const MEDIA_CONVERSIONS: readonly Conversions[] = [
  { engine: 'media', tools: ['ffmpeg'], inputs: [...AUDIO, ...VIDEO], outputs: AUDIO, toItself: true },
  { engine: 'media', tools: ['ffmpeg'], inputs: VIDEO, outputs: ['avi', 'mkv', 'mov', 'mp4', 'webm'], toItself: true },
  { engine: 'media', tools: ['ffmpeg'], inputs: VIDEO, outputs: ['gif'] },
  { engine: 'media', tools: ['ffmpeg', 'sharp'], inputs: VIDEO, outputs: ['jpg', 'png', 'webp'] },
  { engine: 'media', tools: ['ffmpeg'], inputs: ['gif'], outputs: ['mov', 'mp4', 'webm'] },
];
