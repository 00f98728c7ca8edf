/**
 * A complete consumer: counts finished conversions a day and format, from the first job on. It needs no right but to
 * read, keeps its place in a SQLite file, and may be killed or thrown away at any time.
 *
 *   node --import tsx streams/examples/usage-report.ts
 *
 * It finds the standalone edition by its `DATA_DIR`; for any other service set `NATS_URL`.
 */
import { join } from 'node:path';
import { findNats } from '../../shared/config/find-service.ts';
import { loadSettings } from '../../shared/config/load.ts';
import { openLocalCopy } from '../../shared/consume/local-copy.ts';
import { runService } from '../../shared/lifecycle/run-service.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats } from '../../shared/nats/connect.ts';

const readSettings = () => loadSettings(process.env, ['DATA_DIR', 'LOG_LEVEL']);

const tables = `
  create table formats (job_id text primary key, output_format text not null);
  create table usage (day text, output_format text, conversions integer not null, credits integer not null, primary key (day, output_format));
`;

await runService(() => createLogger('usage-report', readSettings().LOG_LEVEL), async (cleanup, logger) => {
  const { DATA_DIR } = readSettings();
  const nc = await connectNats({ url: findNats(process.env), name: 'usage-report', logger });
  cleanup.add('nats', () => nc.drain());
  const copy = await openLocalCopy(nc, {
    stream: 'JOBS', name: 'usage-report', version: 1, folder: join(DATA_DIR, 'copies'), tables,
    apply(database, { event, aggregate, envelope }) {
      if (event.type === 'job.created') database.prepare('insert into formats values (?, ?)').run(aggregate.id, event.data.output_format);
      if (event.type !== 'job.finished') return;
      const row = database.prepare<[string], { output_format: string }>('delete from formats where job_id = ? returning output_format').get(aggregate.id);
      database
        .prepare('insert into usage values (?, ?, 1, ?) on conflict do update set conversions = conversions + 1, credits = credits + excluded.credits')
        .run(envelope.time.slice(0, 10), row?.output_format ?? 'unknown', event.data.credits_charged);
      logger.info({ usage: database.prepare('select * from usage order by day, output_format').all() }, 'usage');
    },
  }, logger);
  cleanup.add('copy', () => copy.stop());
});
