import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeTool } from './place-tool.ts';
import { runCommand } from './run-command.ts';
import { briefly, type Attempt } from './step.ts';

/** The pinned release. 2.15.0 because its published sums are confirmed by more than one source for all four platforms. */
const VERSION = '2.15.0';
/** SHA-256 of the archives as in the release's own SHA256SUMS; a platform that is not here is not downloaded. */
const SHA256: Readonly<Record<string, string>> = {
  'darwin-amd64': '5bd8b59ca5bf93fab3da2c5843cf564cd6e2e291e22ae3b861746e7ebe259b95',
  'darwin-arm64': 'e1c4e22d70bd44abfa0bcb3c16f7cf0c66f648c2e728c58924e8a1ce88913cc8',
  'linux-amd64': '5d2c51caca950333aba84911df7d377f826f3a59ec36061c6539105084f65c92',
  'linux-arm64': 'cdc208f5a3f42963a52b6ab06ef65626bb870315dc936e26ba571780c6351112',
};
const RELEASES = 'https://github.com/nats-io/nats-server/releases/download';
/** Names of processors: Node's and those of the releases. */
const PROCESSORS: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** An archive has 7 MB: a slow line needs a minute, a machine without network is told at once by the system. */
const DOWNLOAD_LIMIT_MS = 90_000;
/** Nothing that claims to be this archive is larger. */
const ARCHIVE_LIMIT_BYTES = 40 * 1024 * 1024;
const UNPACK_LIMIT_MS = 30_000;

/** Downloads the pinned release for this system, checks its SHA-256 and unpacks the server into `.tools/`. */
export async function downloadNatsRelease(): Promise<Attempt<string>> {
  const platform = `${process.platform}-${PROCESSORS[process.arch] ?? process.arch}`;
  const expected = SHA256[platform];
  if (expected === undefined) return { reason: `there is no checked release for ${platform}` };
  const name = `nats-server-v${VERSION}-${platform}`;
  const work = await mkdtemp(join(tmpdir(), 'nats-release-'));
  try {
    const archive = await download(`${RELEASES}/v${VERSION}/${name}.tar.gz`);
    const actual = createHash('sha256').update(archive).digest('hex');
    if (actual !== expected) return { reason: `the archive has SHA-256 ${actual} instead of ${expected} and was thrown away` };
    await writeFile(join(work, 'archive.tar.gz'), archive);
    await runCommand('tar', ['-xzf', join(work, 'archive.tar.gz'), '-C', work, `${name}/nats-server`], { limitMs: UNPACK_LIMIT_MS });
    return { value: await placeTool('nats-server', join(work, name, 'nats-server')) };
  } catch (error) {
    return { reason: briefly(error) };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_LIMIT_MS) });
  if (!response.ok || response.body === null) throw new Error(`the download answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > ARCHIVE_LIMIT_BYTES) throw new Error(`the download is larger than ${ARCHIVE_LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
