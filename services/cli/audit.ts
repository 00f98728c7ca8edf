import { systemClock } from '../../shared/clock/clock.ts';
import { Defect, DomainError } from '../../shared/errors/errors.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import { compareReadModels } from '../../projections/compare.ts';
import { parseId } from './arguments.ts';
import { Findings } from './audit/findings.ts';
import { printReport, type Report } from './audit/report.ts';
import { printTimeline, readTimeline } from './audit/timeline.ts';
import { verifyLog } from './audit/verify.ts';
import { EXIT, runCommands, type Command } from './command.ts';
import { withConnection } from './connection.ts';

/** Progress goes to stderr, so that stdout holds the report alone. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

const verify: Command = {
  name: 'verify',
  usage: '[--json]',
  summary: 'Replays the log: chains, transitions, the ledger, deadlines, webhook deliveries, and every read model. Exit code 0 when all is in order, 1 when not.',
  options: { json: { type: 'boolean' } },
  arguments: [],
  run: (values) =>
    withConnection(async (connection) => {
      const findings = new Findings();
      const log = await verifyLog(connection.nc, findings, systemClock, say);
      say('comparing read models with a replay');
      const pool = createPool(connection.service.databaseUrl, connection.logger);
      const readModels = await compareReadModels(connection.nc, pool, say).catch((error: unknown) => {
        // A log that cannot be folded is what the audit is for: it is a finding, and those above say where.
        if (!(error instanceof Defect)) throw error;
        findings.add('read_model', 'all', `they cannot be compared with a replay: ${error.message}`);
        return [];
      });
      await pool.end();
      for (const { name, differing } of readModels) for (const subject of differing) findings.add('read_model', subject, `its row in ${name} differs from a replay`);
      const report: Report = { ok: findings.count === 0, ...log, read_models: readModels.map(({ name, rows, position, differing }) => ({ name, rows, position, differing: differing.length })), findings: findings.count, shown: findings.shown };
      process.stdout.write(values['json'] === true ? `${JSON.stringify(report)}\n` : printReport(report));
      return report.ok ? 0 : EXIT.failed;
    }),
};

const timeline: Command = {
  name: 'timeline',
  usage: 'JOB_ID [--json]',
  summary: 'Tells the life of one job, of its credits and of the webhooks that told of it.',
  options: { json: { type: 'boolean' } },
  arguments: ['JOB_ID'],
  run: (values, [jobId]) =>
    withConnection(async ({ nc, store }) => {
      const id = parseId('JOB_ID', jobId);
      const entries = await readTimeline(nc, store, id);
      if (entries.length === 0) throw new DomainError('not_found', `there is no job ${id}`);
      if (values['json'] === true) return { job_id: id, events: entries };
      process.stdout.write(printTimeline(entries));
      return 0;
    }),
};

await runCommands('audit', [verify, timeline], process.argv.slice(2));
