import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createMediaEngine } from '../../../services/converter/engines/media/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { parseOptions, type OutputFormat } from '../../../shared/domain/catalogue/options/options.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { decodedSeconds } from '../../engines/readers/media.ts';
import { ffmpeg, makeClip, show, testCard, tone } from '../../support/clips.ts';
import { fixturePath } from '../../support/fixtures.ts';

type Options = Record<string, unknown>;

describe('options of conversions of sound and films', function () {
  this.timeout(60_000);
  const engine = createMediaEngine(createImageEngine());
  const folder = mkdtempSync(join(tmpdir(), 'media-options-'));
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const convert = (source: string | Buffer, input: FormatName, output: OutputFormat, sent: Options = {}): Promise<Converted> => {
    const { options, ignored, issues } = parseOptions(input, output, sent);
    expect({ ignored, issues }).to.deep.equal({ ignored: [], issues: [] });
    return convertIn(sandbox, engine, { source, input, output, options });
  };
  /** Converts, and keeps the result as a file that others can read. */
  const kept = async (source: string | Buffer, input: FormatName, output: OutputFormat, options: Options = {}): Promise<string> => {
    const path = join(folder, `kept.${output}`);
    writeFileSync(path, (await convert(source, input, output, options)).bytes);
    return path;
  };

  it('takes over what is in the right codec already, bit for bit', async () => {
    const mkv = await kept('film.mp4', 'mp4', 'mkv');
    for (const kind of ['v', 'a'] as const) expect(digest(mkv, kind)).to.equal(digest(fixturePath('film.mp4'), kind));
    expect(show(await kept('film.mp4', 'mp4', 'm4a'), 'stream=codec_name')).to.deep.equal(['stream|codec_name=aac']);
    expect(digest(join(folder, 'kept.m4a'), 'a')).to.equal(digest(fixturePath('film.mp4'), 'a'));
  });

  const SIZES: readonly [Options, number, number][] = [
    [{ width: 160 }, 160, 90],
    [{ height: 91 }, 162, 92],
    [{ width: 200, height: 200 }, 200, 112],
    [{ width: 200, height: 200, fit: 'contain' }, 200, 200],
    [{ width: 200, height: 200, fit: 'cover' }, 200, 200],
    [{ width: 100, height: 200, fit: 'fill' }, 100, 200],
    [{ rotate: 90 }, 180, 320],
    [{ rotate: 270, width: 90 }, 90, 160],
  ];
  for (const [options, width, height] of SIZES) {
    it(`draws a film of 320 × 180 with ${JSON.stringify(options)} at ${width} × ${height}`, async () => {
      expect(pictureOf(await kept('film.mp4', 'mp4', 'mp4', { ...options, preset: 'ultrafast' }))).to.equal(size(width, height));
    });
  }

  it('cuts a part out of a film, to the picture and not only to the next whole one', async () => {
    const path = await kept('film.mp4', 'mp4', 'mp4', { start: 0.7, duration: 1.1 });
    expect(decodedSeconds(path)).to.be.closeTo(1.1, 0.1);
    expect(decodedSeconds(await kept('film.mp4', 'mp4', 'webm', { start: 2 }))).to.be.closeTo(1, 0.1);
    expect(decodedSeconds(await kept('speech.mp3', 'mp3', 'mp3', { start: 1, duration: 0.5 }))).to.be.closeTo(0.5, 0.1);
  });

  it('says when the part asked for lies behind the end', async () => {
    for (const output of ['mp4', 'mp3', 'gif', 'png'] as const) expect(await failureOf(convert('film.mp4', 'mp4', output, { start: 3.5 })), output).to.equal('start_after_end');
  });

  it('stores less at a lower quality, and as much as a bitrate says', async () => {
    const card = makeClip(folder, 'card.mp4', [...testCard(4), '-pix_fmt', 'yuv420p']);
    const bytes = async (output: OutputFormat, options: Options): Promise<number> => (await convert(card, 'mp4', output, options)).sizeBytes;
    expect(await bytes('mp4', { crf: 40 })).to.be.lessThan((await bytes('mp4', { crf: 18 })) / 2);
    expect(await bytes('webm', { crf: 60 })).to.be.lessThan((await bytes('webm', { crf: 15 })) / 2);
    expect(await bytes('avi', { video_bitrate: 200 })).to.be.lessThan((await bytes('avi', { video_bitrate: 2000 })) / 2);
    expect(await bytes('mp4', { video_bitrate: 400 })).to.be.closeTo(200_000, 80_000);
    expect(await bytes('mp3', {}).catch((error: unknown) => (error as { code: string }).code)).to.equal('no_audio');
  });

  it('writes the codec that is asked for, and sound only where it is wanted', async () => {
    expect(show(await kept('film.mp4', 'mp4', 'mov', { video_codec: 'hevc', preset: 'ultrafast' }), 'stream=codec_name,codec_tag_string')[0]).to.equal('stream|codec_name=hevc|codec_tag_string=hvc1');
    expect(show(await kept('film.mp4', 'mp4', 'webm', { video_codec: 'vp8', mute: true }), 'stream=codec_name')).to.deep.equal(['stream|codec_name=vp8']);
    expect(show(await kept('film.mp4', 'mp4', 'mp4', { fps: 10 }), 'stream=avg_frame_rate')[0]).to.equal('stream|avg_frame_rate=10/1');
  });

  it('changes bitrate, rate, channels, loudness and depth of sound', async () => {
    const [low, high] = [await convert('speech.wav', 'wav', 'mp3', { audio_bitrate: 32 }), await convert('speech.wav', 'wav', 'mp3', { audio_bitrate: 160 })];
    expect(low.sizeBytes).to.be.lessThan(high.sizeBytes / 3);
    expect(show(await kept('speech.wav', 'wav', 'flac', { sample_rate: 16_000, channels: 2, bit_depth: 24, compression_level: 8 }), 'stream=sample_rate,channels,bits_per_raw_sample')).to.deep.equal(['stream|sample_rate=16000|channels=2|bits_per_raw_sample=24']);
    expect(show(await kept('speech.wav', 'wav', 'wav', { bit_depth: 24 }), 'stream=codec_name')).to.deep.equal(['stream|codec_name=pcm_s24le']);
    // 44.1 kHz is none of the rates of Opus, so it takes the next.
    expect(show(await kept('speech.mp3', 'mp3', 'opus', { sample_rate: 11_025 }), 'stream=sample_rate')).to.deep.equal(['stream|sample_rate=48000']);
    expect(loudness(await kept('speech.wav', 'wav', 'wav', { volume: 0.5 }))).to.be.closeTo(loudness(fixturePath('speech.wav')) - 6, 0.3);
  });

  it('writes the least and the most that the schema allows in every lossy format', async () => {
    for (const output of ['mp3', 'aac', 'm4a', 'ogg', 'opus', 'wma'] as const) {
      for (const options of [{ audio_bitrate: 320, sample_rate: 8_000, channels: 1 }, { audio_bitrate: 8, sample_rate: 192_000, channels: 2 }]) {
        expect((await convert('speech.wav', 'wav', output, { ...options, duration: 0.5 })).sizeBytes, `${output} ${JSON.stringify(options)}`).to.be.greaterThan(0);
      }
    }
  });

  it('makes an animation of the size, rate, colours and repeats asked for', async () => {
    const wide = makeClip(folder, 'wide.mp4', [...testCard(2, '960x540'), '-pix_fmt', 'yuv420p']);
    expect(pictureOf(await kept(wide, 'mp4', 'gif'))).to.equal(size(480, 270));
    const path = await kept(wide, 'mp4', 'gif', { width: 100, fps: 5, loop: 1, colors: 8, start: 0.5, duration: 1 });
    expect(pictureOf(path)).to.equal(size(100, 56));
    expect(decodedSeconds(path)).to.be.closeTo(1, 0.21);
    expect(parseOptions('mp4', 'gif', { rotate: 90, page: 2, keep_metadata: true }).ignored).to.deep.equal(['rotate', 'page', 'keep_metadata']);
  });

  it('shows the moment of a film that is asked for, drawn as any picture', async () => {
    const film = makeClip(folder, 'colours.mp4', ['-f', 'lavfi', '-i', 'color=red:s=64x64:d=1', '-f', 'lavfi', '-i', 'color=blue:s=64x64:d=1', '-filter_complex', '[0][1]concat', '-pix_fmt', 'yuv420p']);
    const red = await kept(film, 'mp4', 'jpg', { start: 0.5, width: 32, quality: 90 });
    expect(pictureOf(red)).to.equal(size(32, 32));
    expect(colour(red)[0]).to.be.greaterThan(200);
    expect(colour(await kept(film, 'mp4', 'png', { start: 1.5 }))[2]).to.be.greaterThan(200);
    const [r, g, b] = colour(await kept(film, 'mp4', 'png', { start: 1.5, grayscale: true }));
    expect([r, r]).to.deep.equal([g, b]);
  });

  it('lets nothing but numbers and words of its own through', () => {
    for (const options of [{ crf: '23' }, { width: 1.5 }, { start: '0;x' }, { preset: 'placebo -f' }, { video_codec: 'h264,lut' }, { rotate: 45 }, { fps: Infinity }, { volume: '1,afade' }, { duration: -1 }]) {
      expect(parseOptions('mp4', 'mp4', options).issues, JSON.stringify(options)).to.have.length(1);
    }
    expect(parseOptions('gif', 'mp4', { mute: true, volume: 2 }).ignored).to.deep.equal(['mute', 'volume']);
  });

  it('keeps the times of a film whose pictures come unevenly', async () => {
    const uneven = makeClip(folder, 'uneven.mp4', [...testCard(2), ...tone(2), '-vf', "select='lt(n,10)+not(mod(n,9))'", '-vsync', 'vfr', '-pix_fmt', 'yuv420p']);
    for (const output of ['webm', 'avi', 'mkv'] as const) expect(decodedSeconds(await kept(uneven, 'mp4', output)), output).to.be.closeTo(2, 0.15);
  });
});

/** Size of the first picture in a file. */
function pictureOf(path: string): string {
  return show(path, 'stream=width,height').find((line) => /width=\d/.test(line)) ?? '';
}

function size(width: number, height: number): string {
  return `stream|width=${width}|height=${height}`;
}

/** Digest of the compressed picture or sound, which stays the same as long as nobody decodes it. */
function digest(path: string, kind: 'v' | 'a'): string {
  return ffmpeg(['-v', 'error', '-i', path, '-map', `0:${kind}:0`, '-c', 'copy', '-bsf:v', 'h264_mp4toannexb', '-f', 'md5', '-']);
}

/** Mean loudness, decibels. */
function loudness(path: string): number {
  const text = execFileSync('sh', ['-c', 'ffmpeg -nostdin -hide_banner -i "$0" -af volumedetect -f null - 2>&1', path]).toString();
  return Number(/mean_volume: (-[\d.]+) dB/.exec(text)?.[1]);
}

/** Mean red, green and blue of a picture. */
function colour(path: string): number[] {
  return [...execFileSync('ffmpeg', ['-v', 'error', '-i', path, '-vf', 'scale=1:1', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-'])];
}
