import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import Database from 'better-sqlite3';
import { openLocalCopy, type CopyDefinition, type LocalCopy } from '../../../shared/consume/local-copy.ts';
import { streamExtent } from '../../../shared/consume/read-stream.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { appendGrants, newCredits } from '../../support/events.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const logger = createLogger('test', 'silent');
const FILL_MS_MAX = 15_000;
const PAGE_BYTES = 4096;
const FILE = 'test-1.sqlite';
const TABLES = 'create table seen (position integer primary key, padding blob); create index seen_paddings on seen (padding)';
/** Long enough that five rows fill more than one page. */
const PADDING = Buffer.alloc(1500, 7);

type Files = ReadonlyMap<string, Buffer>;

describe('a local copy after a power cut or on a bad disk', () => {
  let nats: TestNats;
  let nc: NatsConnection;
  let folder: string;

  before(async () => {
    nats = await startNats();
    nc = await connectNats({ url: nats.url, name: 'test', logger });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
  });
  after(async () => {
    await nc.close();
    await nats.stop();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'copies-'));
    await append(5);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function append(count: number): Promise<void> {
    await appendGrants(createJetStreamStore(nc), newCredits(), count);
  }

  function start(change: Partial<CopyDefinition> = {}): Promise<LocalCopy> {
    return openLocalCopy(nc, { stream: 'CREDITS', name: 'test', version: 1, folder, tables: TABLES, apply: insertSeen, ...change }, logger);
  }

  /** Opens the copy and requires that it comes to hold every event once. */
  async function requireWhole(): Promise<LocalCopy> {
    const copy = await start();
    const { last } = await streamExtent(nc, 'CREDITS');
    const isThere = await copy.reader.waitFor(last, FILL_MS_MAX);
    const rows = isThere ? copy.database.prepare<[], { position: number }>('select position from seen order by position').all() : [];
    if (!isThere) await copy.stop();
    expect(isThere, 'the copy follows the stream').to.equal(true);
    expect(rows.map(({ position }) => position)).to.deep.equal(Array.from({ length: last }, (_, index) => index + 1));
    return copy;
  }

  async function readFiles(): Promise<Files> {
    const names = await readdir(folder);
    return new Map(await Promise.all(names.map(async (name): Promise<[string, Buffer]> => [name, await readFile(join(folder, name))])));
  }

  for (const parity of [0, 1]) {
    it(`loses at most its last events when only every other page reached the disk (${parity === 0 ? 'even' : 'odd'} ones)`, async () => {
      await (await requireWhole()).stop();
      const copy = await requireWhole();
      const before = await readFiles();
      await append(4);
      await copy.reader.waitFor((await streamExtent(nc, 'CREDITS')).last, FILL_MS_MAX);
      const after = await readFiles();
      await copy.stop();
      await rm(folder, { recursive: true });
      folder = await mkdtemp(join(tmpdir(), 'copies-'));
      for (const [name, bytes] of after) await writeFile(join(folder, name), mixPages(before.get(name), bytes, parity));
      await (await requireWhole()).stop();
    });
  }

  it('is filled anew when any of its pages is all zeros', async () => {
    await (await requireWhole()).stop();
    const whole = await readFile(join(folder, FILE));
    expect(whole.length / PAGE_BYTES).to.be.above(4);
    for (let at = 0; at < whole.length; at += PAGE_BYTES) {
      await writeFile(join(folder, FILE), Buffer.from(whole).fill(0, at, at + PAGE_BYTES));
      await (await requireWhole()).stop();
    }
  });

  it('is filled anew when its file is none of SQLite, or ends too early', async () => {
    await (await requireWhole()).stop();
    const whole = await readFile(join(folder, FILE));
    for (const bytes of [Buffer.from('no database at all'.repeat(500)), whole.subarray(0, PAGE_BYTES * 2)]) {
      await writeFile(join(folder, FILE), bytes);
      await (await requireWhole()).stop();
    }
  });

  it('is removed when it turns out damaged while it is used, and filled anew by the next process', async () => {
    const met: unknown[] = [];
    const copy = await start({ apply: meetDamage, onDamaged: (error) => met.push(error) });
    await waitFor('the damage', FILL_MS_MAX, async () => (met.length > 0 ? true : undefined));
    expect(await readdir(folder)).to.deep.equal([]);
    await copy.stop();
    await (await requireWhole()).stop();
  });
});

/** A file as a power cut leaves it when the pages of one parity came to the disk and the others did not. */
function mixPages(before: Buffer | undefined, after: Buffer, parity: number): Buffer {
  const mixed = Buffer.from(after);
  for (let page = 0; page * PAGE_BYTES < after.length; page += 1) {
    if (page % 2 === parity) continue;
    const [from, to] = [page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, after.length)];
    mixed.fill(0, from, to);
    if (before && from < before.length) before.copy(mixed, from, from, to);
  }
  return mixed;
}

const insertSeen: CopyDefinition['apply'] = (database, { position }) => {
  database.prepare('insert into seen values (?, ?)').run(position, PADDING);
};

function meetDamage(): never {
  throw new Database.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT');
}
