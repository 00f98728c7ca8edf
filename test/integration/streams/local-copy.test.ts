import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import Database from 'better-sqlite3';
import { openLocalCopy, type LocalCopy } from '../../../shared/consume/local-copy.ts';
import { streamExtent } from '../../../shared/consume/read-stream.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { appendGrants, newCredits } from '../../support/events.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const logger = createLogger('test', 'silent');
const FILL_MS_MAX = 15_000;

describe('a local copy of a stream', () => {
  let nats: TestNats;
  let nc: NatsConnection;
  let folder: string;

  before(async () => {
    nats = await startNats();
    nc = await connectNats({ url: nats.url, name: 'test', logger });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
    folder = await mkdtemp(join(tmpdir(), 'copies-'));
    await appendGrants(createJetStreamStore(nc), newCredits(), 5);
  });
  after(async () => {
    await nc.close();
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens the copy, lets it catch up, and tells how many events were applied since it was opened, and in all. */
  async function open(): Promise<{ copy: LocalCopy; applied: number; rows: number }> {
    let applied = 0;
    const copy = await openLocalCopy(
      nc,
      {
        stream: 'CREDITS', name: 'test', version: 1, folder, tables: 'create table seen (position integer primary key)',
        apply(database, event) {
          applied += 1;
          database.prepare('insert into seen values (?)').run(event.position);
        },
      },
      logger,
    );
    expect(await copy.reader.waitFor((await streamExtent(nc, 'CREDITS')).last, FILL_MS_MAX)).to.equal(true);
    const { rows } = copy.database.prepare<[], { rows: number }>('select count(*) as rows from seen').get() ?? { rows: 0 };
    return { copy, applied, rows };
  }

  it('goes on where it was', async () => {
    const first = await open();
    expect([first.applied, first.rows]).to.deep.equal([5, 5]);
    await first.copy.stop();
    const second = await open();
    expect([second.applied, second.rows]).to.deep.equal([0, 5]);
    await second.copy.stop();
  });

  it('gives a second process a file of its own', async () => {
    const first = await open();
    const second = await open();
    expect([first.rows, second.rows]).to.deep.equal([5, 5]);
    await first.copy.stop();
    await second.copy.stop();
  });

  for (const [what, change] of [
    ['the event at its position is another one', "update copy_state set hash = 'another'"],
    ['it is ahead of the log', 'update copy_state set position = 1000'],
    ['it was made from another stream', "update copy_state set identity = 'another'"],
  ] as const) {
    it(`is filled anew when ${what}`, async () => {
      await (await open()).copy.stop();
      const file = new Database(join(folder, 'test-1.sqlite'));
      file.exec(change);
      file.close();
      const again = await open();
      expect([again.applied, again.rows]).to.deep.equal([5, 5]);
      await again.copy.stop();
    });
  }
});
