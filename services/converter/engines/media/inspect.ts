import { z } from 'zod';
import type { JobDir } from '../../sandbox/command.ts';
import type { ConversionContext } from '../engine.ts';
import { EngineFailure } from '../failure.ts';
import { openArguments } from './open.ts';
import { TAG_NAMES, tagsFrom, type Tags } from './tags.ts';
import { runMedia } from './tools.ts';

/** Characters of ffprobe's answer that are read; a file of a hundred streams says less. */
const ANSWER_MAX = 200_000;

/** ffprobe writes numbers as text, and what it does not know as a word or not at all. */
const amount = z.coerce.number().positive().optional().catch(undefined);
const ratio = z
  .string()
  .transform((text) => text.split(/[:/]/).map(Number))
  .transform(([above = 0, below = 0]) => (above > 0 && below > 0 ? above / below : undefined))
  .optional()
  .catch(undefined);
const word = z.string().optional().catch(undefined);
const tagsAnswer = z.record(z.string(), z.string()).optional().catch(undefined);

const streamAnswer = z.object({
  index: z.int(),
  codec_type: word,
  codec_name: word,
  width: amount,
  height: amount,
  pix_fmt: word,
  sample_aspect_ratio: ratio,
  field_order: word,
  color_transfer: word,
  avg_frame_rate: ratio,
  r_frame_rate: ratio,
  duration: amount,
  sample_rate: amount,
  channels: amount,
  bits_per_sample: amount,
  bits_per_raw_sample: amount,
  disposition: z.object({ default: z.int(), attached_pic: z.int() }).partial().catch({}).default({}),
  side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional().catch(undefined),
  tags: tagsAnswer,
});

const answerSchema = z.object({
  streams: z.array(streamAnswer).default([]),
  format: z.object({ duration: amount, tags: tagsAnswer }).default({ duration: undefined, tags: undefined }),
});

/** A stream of a file as ffprobe tells it. */
export type StreamAnswer = z.infer<typeof streamAnswer>;

/** What is known about a recording before anything of it is decoded. */
export interface Recording {
  /** Whole length as the file claims it, seconds. */
  readonly seconds: number | undefined;
  /** The one sound that is converted: the one marked as default, else the first. */
  readonly sound: StreamAnswer | undefined;
  /** The one picture that is converted, chosen likewise; a cover is none. */
  readonly picture: StreamAnswer | undefined;
  /** A still picture that belongs to a sound. */
  readonly cover: StreamAnswer | undefined;
  /** Titles and the like, out of the file. */
  readonly tags: Tags;
}

const ENTRIES = [
  'format=duration',
  'stream=index,codec_type,codec_name,width,height,pix_fmt,sample_aspect_ratio,field_order,color_transfer,avg_frame_rate,r_frame_rate,duration,sample_rate,channels,bits_per_sample,bits_per_raw_sample',
  'stream_disposition=default,attached_pic',
  'stream_side_data=rotation',
  `format_tags=${TAG_NAMES}`,
  `stream_tags=${TAG_NAMES}`,
].join(':');

/** What ffprobe says before it would decode a frame above the limit. */
const TOO_MANY_PIXELS = /exceeds specified max pixel count/;

/**
 * Asks ffprobe what a source holds.
 * @throws EngineFailure `too_many_pixels`, or `damaged` when it cannot be read; also what `runProgram` throws.
 */
export async function inspectRecording(job: JobDir, source: string, demuxer: string, context: Pick<ConversionContext, 'sandbox' | 'signal' | 'timeLimitMs'>): Promise<Recording> {
  const args = ['-v', 'error', ...openArguments(demuxer), '-show_entries', ENTRIES, '-of', 'json=compact=1', '-i', `./${source}`];
  const { output, exit } = await runMedia('ffprobe', { job, args, outputMax: ANSWER_MAX }, context);
  if (exit.code !== 0) throw new EngineFailure(TOO_MANY_PIXELS.test(exit.stderrTail) ? 'too_many_pixels' : 'damaged', exit.stderrTail);
  const { streams, format } = readAnswer(output);
  if (streams.length === 0) throw new EngineFailure('damaged', 'no streams');
  const sound = chosen(streams.filter((stream) => stream.codec_type === 'audio'));
  const picture = chosen(streams.filter((stream) => stream.codec_type === 'video' && !isCover(stream)));
  const cover = streams.find((stream) => stream.codec_type === 'video' && isCover(stream));
  return { seconds: format.duration, sound, picture, cover, tags: tagsFrom([format.tags, sound?.tags]) };
}

function readAnswer(output: string): z.infer<typeof answerSchema> {
  try {
    return answerSchema.parse(JSON.parse(output));
  } catch {
    throw new EngineFailure('unsupported_feature', 'ffprobe said too much, or nothing');
  }
}

function isCover(stream: StreamAnswer): boolean {
  return stream.disposition.attached_pic === 1;
}

function chosen(streams: readonly StreamAnswer[]): StreamAnswer | undefined {
  return streams.find((stream) => stream.disposition.default === 1) ?? streams[0];
}
