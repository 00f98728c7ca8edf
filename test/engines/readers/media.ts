import { execFileSync } from 'node:child_process';
import { z } from 'zod';

const answer = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string().optional(),
      codec_name: z.string().optional(),
      width: z.int().optional(),
      height: z.int().optional(),
      disposition: z.object({ attached_pic: z.int().optional() }).optional(),
    }),
  ),
  format: z.object({ duration: z.string().optional() }),
});

/** What ffprobe says about a recording or a film; `durationS` in seconds. */
export interface Media {
  readonly durationS: number | undefined;
  readonly audio: { readonly codec: string } | undefined;
  readonly video: { readonly codec: string; readonly width: number; readonly height: number } | undefined;
}

/** Asks ffprobe; throws when it cannot read the file. Cover pictures are no film. */
export function probe(path: string): Media {
  const text = execFileSync('ffprobe', ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', path], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  const { streams, format } = answer.parse(JSON.parse(text));
  const audio = streams.find(({ codec_type }) => codec_type === 'audio');
  const video = streams.find(({ codec_type, disposition }) => codec_type === 'video' && disposition?.attached_pic !== 1);
  return {
    durationS: format.duration === undefined ? undefined : Number(format.duration),
    audio: audio && { codec: audio.codec_name ?? '' },
    video: video && { codec: video.codec_name ?? '', width: video.width ?? 0, height: video.height ?? 0 },
  };
}

/** Length in seconds by decoding all of it, which no header can get wrong. */
export function decodedSeconds(path: string): number {
  const text = execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-i', path, '-map', '0:a:0?', '-map', '0:v:0?', '-f', 'null', '-progress', 'pipe:1', '-'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  const times = [...text.matchAll(/^out_time_us=(\d+)$/gm)].map(([, value]) => Number(value));
  return Math.max(0, ...times) / 1_000_000;
}
