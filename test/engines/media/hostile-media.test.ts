import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createImageEngine } from '../../../services/converter/engines/image/engine.ts';
import { createMediaEngine } from '../../../services/converter/engines/media/engine.ts';
import { EngineFailure, EngineKilled } from '../../../services/converter/engines/failure.ts';
import { createSandbox, type Sandbox } from '../../../services/converter/sandbox/sandbox.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import type { FormatName } from '../../../shared/domain/catalogue/formats.ts';
import { convertIn, failureOf, type Converted } from '../../contract/engine/suite.ts';
import { makeClip, testCard, tone } from '../../support/clips.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { descendantsOf } from '../../support/process-tree.ts';
import { startTrap, type Trap } from '../../support/origin.ts';

const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
/** Milliseconds in which a refusal comes that needs no decoding, on a machine that does other things too. */
const REFUSAL_MS = 10_000;

/** A GIF of two tiny frames that are shown for eleven minutes each. */
const SLOW_GIF = Buffer.concat([
  Buffer.from('GIF89a\x02\0\x02\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1'),
  ...[0, 1].map(() => Buffer.from('!\xf9\x04\0\xff\xff\0\0,\0\0\0\0\x02\0\x02\0\0\x02\x03\x44\x02\x05\0', 'latin1')),
  Buffer.from(';'),
]);

describe('recordings and films that mean harm', function () {
  this.timeout(90_000);
  const engine = createMediaEngine(createImageEngine());
  let sandbox: Sandbox;
  let folder: string;
  let trap: Trap;
  before(async () => {
    sandbox = await createSandbox({ mode: 'require' });
    folder = await mkdtemp(join(tmpdir(), 'hostile-media-'));
    trap = await startTrap('127.0.0.1');
    await writeFile(join(folder, 'secret.txt'), 'a secret of the host');
  });
  after(async () => {
    await trap.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const convert = (source: string | Buffer, input: FormatName, output: FormatName, options = {}, timeLimitMs = 60_000): Promise<Converted> => convertIn(sandbox, engine, { source, input, output, options, timeLimitMs });

  it('refuses lists of other files under every name', async () => {
    const url = `http://127.0.0.1:${trap.port}/a.ts`;
    const lists = [
      `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\n${url}\n#EXT-X-ENDLIST\n`,
      `#EXTM3U\n#EXTINF:10.0,\nfile://${folder}/secret.txt\n`,
      `ffconcat version 1.0\nfile ${folder}/secret.txt\n`,
      'ffconcat version 1.0\nfile secret.txt\n',
      `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><AdaptationSet><Representation id="1"><BaseURL>${url}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
      'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n',
      `concat:${folder}/secret.txt|${folder}/secret.txt`,
    ];
    for (const list of lists) {
      for (const input of ['mp4', 'mp3', 'mkv', 'avi', 'mpg', 'wav', 'aac', 'flv', 'ogg'] as const) {
        const output = input === 'mp3' ? 'wav' : 'mp3';
        expect(await failureOf(convert(Buffer.from(list), input, output)), `${input}: ${list}`).to.equal('not_what_it_claims');
      }
    }
    expect(trap.hits()).to.equal(0);
  });

  it('takes a list behind an honest beginning for damage', async () => {
    const list = `\n#EXTM3U\n#EXTINF:10.0,\nhttp://127.0.0.1:${trap.port}/a.ts\n`;
    const heads: readonly [FormatName, string][] = [['mp4', '\0\0\0\x14ftypisom\0\0\0\0isom'], ['wav', 'RIFF\0\0\0\0WAVE'], ['mkv', '\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska'], ['flv', 'FLV\x01\x05\0\0\0\x09\0\0\0\0'], ['mpg', '\0\0\x01\xba']];
    for (const [input, head] of heads) expect(await failureOf(convert(Buffer.from(head + list, 'latin1'), input, 'mp3')), input).to.equal('damaged');
    expect(trap.hits()).to.equal(0);
  });

  it('refuses an animation whose two pictures would last for twenty minutes, and converts it when told to take less', async () => {
    const startedAt = performance.now();
    expect(await failureOf(convert(SLOW_GIF, 'gif', 'mp4'))).to.equal('too_long');
    expect(performance.now() - startedAt).to.be.lessThan(REFUSAL_MS);
    expect((await convert(SLOW_GIF, 'gif', 'mp4', { duration: 2 })).sizeBytes).to.be.within(1, 20_000);
  });

  it('refuses a recording that claims to last ten hours, but takes a part of it', async () => {
    const hours = await claimOf(10 * 3600);
    expect(await failureOf(convert(hours, 'mp4', 'mp3'))).to.equal('too_long');
    expect((await convert(hours, 'mp4', 'wav', { duration: 1 })).sizeBytes).to.be.greaterThan(1000);
  });

  it('refuses frames of 81 megapixels, however small their file', async () => {
    const large = makeClip(folder, 'large.mkv', ['-f', 'lavfi', '-t', '0.1', '-i', 'color=black:s=9000x9000:r=10', '-c:v', 'ffv1']);
    expect(large.length).to.be.lessThan(200_000);
    for (const output of ['mp4', 'gif', 'png'] as const) expect(await failureOf(convert(large, 'mkv', output)), output).to.equal('too_many_pixels');
  });

  it('refuses an animation of too many pictures or pixels', async () => {
    const film = makeClip(folder, 'minute.mp4', [...testCard(60, '64x36', 10), ...H264]);
    expect(await failureOf(convert(film, 'mp4', 'gif'))).to.equal('too_many_frames');
    expect(await failureOf(convert(film, 'mp4', 'gif', { fps: 8, width: 4000 }))).to.equal('result_too_large');
    expect((await convert(film, 'mp4', 'gif', { fps: 2, duration: 10 })).sizeBytes).to.be.greaterThan(1000);
  });

  it('tells a film whose end is missing from one that is whole', async () => {
    const film = await readFile(fixturePath('film.mp4'));
    // Its index stands at its start, so what is there could be played.
    expect(await failureOf(convert(film.subarray(0, film.length / 2), 'mp4', 'mp4'))).to.equal('damaged');
    expect(await failureOf(convert(film.subarray(0, film.length / 2), 'mp4', 'webm'))).to.equal('damaged');
    const nearly = await convert(film.subarray(0, Math.floor(film.length * 0.98)), 'mp4', 'mkv');
    expect(nearly.sizeBytes).to.be.greaterThan(1000);
  });

  it('says that noise behind an honest beginning is damaged', async () => {
    const film = await readFile(fixturePath('film.mp4'));
    const at = film.indexOf('moov');
    const broken = Buffer.from(film);
    broken.fill(0xa5, at + 4, at + 400);
    expect(['damaged', 'unsupported_feature']).to.include(await failureOf(convert(broken, 'mp4', 'mp3')));
  });

  it('writes nothing through a link that a program left in the folder of the job', async () => {
    const job = await sandbox.openJob();
    try {
      await copyFile(fixturePath('film.mp4'), join(job.path, 'source'));
      await symlink(join(folder, 'secret.txt'), join(job.path, 'tags'));
      const request = { job, organizationId: '018f0000-0000-7000-8000-000000000001', source: 'source', input: 'mp4', output: 'mkv', options: {} } as const;
      const converting = engine.convert(request, { sandbox, signal: new AbortController().signal, timeLimitMs: 60_000, onProgress: () => undefined });
      expect((await expectFailure(converting, EngineFailure)).code).to.equal('engine_crashed');
      expect(await readFile(join(folder, 'secret.txt'), 'utf8')).to.equal('a secret of the host');
    } finally {
      await sandbox.closeJob(job);
    }
  });

  it('ends in time, and leaves no process behind', async () => {
    const film = makeClip(folder, 'long.mp4', [...testCard(30, '1280x720'), ...H264]);
    expect(await failureOf(convert(film, 'mp4', 'webm', { preset: 'good', crf: 20 }, 2_500))).to.equal('timeout');
    expect(encoders()).to.deep.equal([]);
    const seen: number[] = [];
    const slow = convertIn(sandbox, engine, { source: film, input: 'mp4', output: 'webm', timeLimitMs: 80_000, onProgress: (percent) => seen.push(percent) });
    const killed = expectFailure(slow, EngineKilled);
    await waitFor('some progress', 60_000, () => seen.length > 1 || undefined);
    process.kill(await waitFor('the encoder', 20_000, () => encoders()[0]?.pid), 'SIGTERM');
    await killed;
    expect(seen).to.deep.equal(seen.toSorted((a, b) => a - b));
    expect(seen.every((percent) => percent >= 1 && percent <= 99)).to.equal(true);
    expect(encoders()).to.deep.equal([]);
  });

  /** A recording of three seconds whose header claims many more. */
  async function claimOf(seconds: number): Promise<Buffer> {
    const whole = makeClip(folder, 'claim.mp4', [...tone(3), '-c:a', 'aac', '-movflags', 'empty_moov+frag_keyframe', '-f', 'mp4']);
    const claimed = Buffer.from(whole);
    for (const name of ['mvhd', 'tkhd', 'mdhd']) {
      const at = claimed.indexOf(name);
      const scale = name === 'tkhd' ? 0 : claimed.readUInt32BE(at + 16);
      claimed.writeUInt32BE(seconds * (scale === 0 ? claimed.readUInt32BE(claimed.indexOf('mvhd') + 16) : scale), at + (name === 'tkhd' ? 24 : 20));
    }
    return claimed;
  }
});

/** The innermost processes: those that read the file. */
function encoders(): ReturnType<typeof descendantsOf> {
  return descendantsOf(process.pid).filter(({ command }) => /^\S*ffmpeg .*-progress/.test(command));
}
