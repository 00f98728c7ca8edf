import type { FormatName } from '../../../../shared/domain/catalogue/formats.ts';
import type { StreamAnswer } from './inspect.ts';

/** What is asked for, as far as it decides how a result is written. */
export interface PlanRequest {
  readonly output: FormatName;
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the source keeps its times so well that streams may be taken as they are. */
  readonly mayCopy: boolean;
  /** How much will be written, seconds, as far as it is known. */
  readonly seconds: number | undefined;
}

/** How a result is written: which streams, and the arguments between the input and the name of the result. */
export interface Plan {
  readonly maps: readonly StreamAnswer[];
  readonly args: readonly string[];
  /** The container, which ffmpeg is told and never guesses from a name. */
  readonly muxer: string;
}

/** Containers whose times are sound; those of others come out of decoding and encoding in order. */
const WELL_TIMED: ReadonlySet<FormatName> = new Set(['aac', 'aiff', 'flac', 'm4a', 'mkv', 'mov', 'mp3', 'mp4', 'ogg', 'opus', 'wav', 'webm']);

/** Whether streams of a format may be taken over without decoding them. */
export function isWellTimed(format: FormatName): boolean {
  return WELL_TIMED.has(format);
}
