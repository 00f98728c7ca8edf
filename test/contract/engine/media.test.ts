import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createMediaEngine } from '../../../services/converter/engines/media/engine.ts';
import { FORMATS, formatsOf, type FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { decodedSeconds, probe } from '../../engines/readers/media.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { coveringPairs } from './covering.ts';
import { describeEngine } from './suite.ts';

const CODECS: Partial<Record<FormatName, readonly [picture: string | undefined, sound: string | undefined]>> = {
  aac: [undefined, 'aac'],
  aiff: [undefined, 'pcm_s16be'],
  avi: ['mpeg4', 'mp3'],
  flac: [undefined, 'flac'],
  m4a: [undefined, 'aac'],
  mkv: ['h264', 'aac'],
  mov: ['h264', 'aac'],
  mp3: [undefined, 'mp3'],
  mp4: ['h264', 'aac'],
  ogg: [undefined, 'vorbis'],
  opus: [undefined, 'opus'],
  wav: [undefined, 'pcm_s16le'],
  webm: ['vp9', 'opus'],
  wma: [undefined, 'wmav2'],
};

const SAMPLES: Partial<Record<FormatName, string>> = {
  gif: 'terminal.gif',
  ...Object.fromEntries(formatsOf('audio').map((format) => [format, `speech.${format}`])),
  ...Object.fromEntries(formatsOf('video').map((format) => [format, `film.${format}`])),
};

describe('the media engine', function () {
  this.timeout(120_000);
  const folder = mkdtempSync(join(tmpdir(), 'media-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  describeEngine({
    engine: createMediaEngine(createImageEngine()),
    samples: SAMPLES,
    impostor: 'a-text.pdf',
    pairs: coveringPairs,
    playableWhenCut: ['aac', 'gif', 'mpg', 'ogg', 'opus', 'wma', 'wmv'],
    verify: ({ bytes }, { input, output }) => {
      const path = join(folder, `result.${output}`);
      writeFileSync(path, bytes);
      const { audio, video } = probe(path);
      if (FORMATS[output].category === 'image') {
        expect(video).to.include({ width: 320, height: 180 });
        return;
      }
      const [picture, sound] = CODECS[output] ?? expect.fail(`no codecs of ${output}`);
      // A film in webm keeps the codecs that it has there.
      expect(video?.codec).to.equal(input === 'webm' && output === 'webm' ? 'vp8' : picture);
      expect(audio?.codec).to.equal(input === 'gif' ? undefined : input === 'webm' && output === 'webm' ? 'vorbis' : sound);
      expect(decodedSeconds(path)).to.be.closeTo(input === 'gif' ? 1.2 : decodedSeconds(fixturePath(SAMPLES[input] ?? '')), 0.1);
      expect(() => execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-xerror', '-i', path, '-f', 'null', '-'], { stdio: 'ignore' })).not.to.throw();
    },
  });
});
