import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createMediaEngine } from '../../../services/converter/engines/media/engine.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { decodedSeconds } from '../../engines/readers/media.ts';
import { makeClip, show, testCard, tone } from '../../support/clips.ts';
import { fixturePath } from '../../support/fixtures.ts';

const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

describe('what becomes of the streams of films and recordings', function () {
  this.timeout(60_000);
  const engine = createMediaEngine(createImageEngine());
  const folder = mkdtempSync(join(tmpdir(), 'media-streams-'));
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const convert = (source: Buffer, input: FormatName, output: FormatName, options = {}): Promise<Converted> => convertIn(sandbox, engine, { source, input, output, options });
  const kept = async (source: Buffer, input: FormatName, output: FormatName, options = {}): Promise<string> => {
    const path = join(folder, `kept.${output}`);
    writeFileSync(path, (await convert(source, input, output, options)).bytes);
    return path;
  };

  it('keeps the sound that is marked as default, and leaves subtitles out', async () => {
    writeFileSync(join(folder, 'words.srt'), '1\n00:00:00,000 --> 00:00:01,000\nHello\n');
    const film = makeClip(folder, 'several.mkv', [...testCard(1), ...tone(1, 300), ...tone(1, 600, 48_000), '-i', 'words.srt', '-map', '0', '-map', '1', '-map', '2', '-map', '3', ...H264, '-c:a', 'aac', '-disposition:a:0', '0', '-disposition:a:1', 'default']);
    for (const output of ['mp4', 'mkv'] as const) {
      expect(show(await kept(film, 'mkv', output), 'stream=codec_type,sample_rate'), output).to.deep.equal(['stream|codec_type=video', 'stream|codec_type=audio|sample_rate=48000']);
    }
  });

  it('says what is missing: no sound in a silent film, no film in a recording with a cover', async () => {
    const silent = makeClip(folder, 'silent.mp4', [...testCard(1), ...H264]);
    expect(await failureOf(convert(silent, 'mp4', 'mp3'))).to.equal('no_audio');
    expect((await convert(silent, 'mp4', 'webm')).sizeBytes).to.be.greaterThan(0);
    const recording = await covered('m4a', ['-c:a', 'aac', '-f', 'ipod']);
    expect(await failureOf(convert(recording, 'mp4', 'webm'))).to.equal('no_video');
    expect(await failureOf(convert(recording, 'mp4', 'gif'))).to.equal('no_video');
  });

  it('keeps the cover of a recording where the format holds one, however large', async () => {
    const source = await covered('mp3', ['-c:a', 'libmp3lame', '-id3v2_version', '3']);
    for (const output of ['m4a', 'flac', 'aiff', 'mp3'] as const) {
      expect(show(await kept(source, 'mp3', output), 'stream=codec_type,width:stream_disposition=attached_pic').join('\n'), output).to.match(/video\|width=1500\|disposition:attached_pic=1/);
    }
    for (const output of ['opus', 'wav', 'aac'] as const) expect(show(await kept(source, 'mp3', output), 'stream=codec_type'), output).to.deep.equal(['stream|codec_type=audio']);
    expect(decodedSeconds(await kept(source, 'mp3', 'm4a', { start: 0.5 }))).to.be.closeTo(0.5, 0.1);
  });

  it('keeps titles and drops where and with what a film was made, unless told otherwise', async () => {
    const marks = ['title=Über = uns; #1', 'artist=Somebody', 'location=+48.2082+016.3738/', 'comment=private', 'creation_time=2024-05-06T07:08:09Z', 'com.apple.quicktime.make=Phone'];
    const film = makeClip(folder, 'marked.mov', [...testCard(1), ...H264, ...marks.flatMap((mark) => ['-metadata', mark]), '-movflags', 'use_metadata_tags']);
    expect(film.includes('+48.2082')).to.equal(true);
    for (const options of [{}, { crf: 30 }]) {
      const { bytes } = await convert(film, 'mov', 'mp4', options);
      for (const secret of ['+48.2082', 'private', '2024-05', 'Phone']) expect(bytes.includes(secret), secret).to.equal(false);
    }
    expect(show(await kept(film, 'mov', 'mp4'), 'format_tags=title,artist')[0]).to.equal('format|tag:title=Über = uns; #1|tag:artist=Somebody');
    expect((await convert(film, 'mov', 'mkv', { keep_metadata: true })).bytes.includes('+48.2082')).to.equal(true);
  });

  it('keeps the titles of songs, which some formats spell in capitals', async () => {
    const song = makeClip(folder, 'song.flac', [...tone(1), '-metadata', 'TITLE=A song', '-metadata', 'track=3/9']);
    for (const output of ['mp3', 'm4a', 'opus'] as const) {
      expect(show(await kept(song, 'flac', output), 'format_tags=title:stream_tags=title').join('\n'), output).to.include('A song');
    }
  });

  it('puts a film upright that only says how it is to be turned', async () => {
    makeClip(folder, 'lying.mp4', [...testCard(1), ...H264]);
    const turned = makeClip(folder, 'turned.mp4', ['-i', 'lying.mp4', '-c', 'copy', '-metadata:s:v', 'rotate=90']);
    expect(show(join(folder, 'turned.mp4'), 'stream_side_data=rotation').join('')).to.match(/rotation=-?90/);
    for (const output of ['mkv', 'webm', 'png'] as const) expect(show(await kept(turned, 'mp4', output), 'stream=width,height')[0], output).to.equal('stream|width=180|height=320');
    expect(show(await kept(turned, 'mp4', 'mov'), 'stream_side_data=rotation').join('')).to.match(/rotation=-?90/);
  });

  it('makes eight bits of ten, ordinary brightness of a high range, and even sides of odd ones', async () => {
    const bright = makeClip(folder, 'bright.mkv', [...testCard(0.4), '-vf', 'scale=161:91,format=yuv444p10le', '-c:v', 'libx265', '-x265-params', 'log-level=error:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc', '-color_primaries', 'bt2020', '-color_trc', 'arib-std-b67', '-colorspace', 'bt2020nc']);
    expect(show(join(folder, 'bright.mkv'), 'stream=pix_fmt,color_transfer')[0]).to.include('arib-std-b67');
    expect(show(await kept(bright, 'mkv', 'mp4'), 'stream=codec_name,width,height,pix_fmt,color_transfer')[0]).to.equal('stream|codec_name=h264|width=162|height=92|pix_fmt=yuv420p|color_transfer=bt709');
    expect(show(await kept(bright, 'mkv', 'webm'), 'stream=pix_fmt')[0]).to.equal('stream|pix_fmt=yuv420p');
  });

  it('mixes surround sound down where a format has two channels, and keeps it where it has six', async () => {
    const surround = makeClip(folder, 'surround.flac', ['-f', 'lavfi', '-i', 'sine=d=1', '-af', 'pan=5.1(side)|FL=c0|FR=c0|FC=c0|LFE=c0|SL=c0|SR=c0', '-ar', '96000']);
    for (const [output, channels] of [['mp3', 2], ['wma', 2], ['m4a', 6], ['opus', 6], ['ogg', 6], ['wav', 6]] as const) {
      expect(show(await kept(surround, 'flac', output), 'stream=channels'), output).to.deep.equal([`stream|channels=${channels}`]);
    }
  });

  it('finds out how long a film is that does not say so, as those recorded in a browser', async () => {
    const live = makeClip(folder, 'live.webm', ['-i', fixturePath('film.webm'), '-c', 'copy', '-f', 'webm', '-live', '1']);
    expect(show(join(folder, 'live.webm'), 'format=duration')).to.deep.equal(['format|duration=N/A']);
    const seen: number[] = [];
    const { bytes } = await convertIn(sandbox, engine, { source: live, input: 'webm', output: 'mp4', onProgress: (percent) => seen.push(percent) });
    writeFileSync(join(folder, 'said.mp4'), bytes);
    expect(decodedSeconds(join(folder, 'said.mp4'))).to.be.closeTo(3, 0.1);
    expect(seen.length).to.be.greaterThan(0);
  });

  /** A recording of a second with a large cover. */
  async function covered(name: string, args: readonly string[]): Promise<Buffer> {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    writeFileSync(join(folder, 'cover.jpg'), await sharp({ create: { width: 1500, height: 1500, channels: 3, background: '#000', noise } }).jpeg({ quality: 90 }).toBuffer());
    return makeClip(folder, `covered.${name}`, [...tone(1), '-i', 'cover.jpg', '-map', '0', '-map', '1', '-c:v', 'copy', '-disposition:v', 'attached_pic', ...args]);
  }
});
