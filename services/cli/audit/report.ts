import type { Finding } from './findings.ts';
import type { LogReport } from './verify.ts';

/** What `audit verify` says. */
export type Report = LogReport & {
  readonly ok: boolean;
  readonly read_models: readonly { readonly name: string; readonly rows: number; readonly position: number; readonly differing: number }[];
  /** How many problems there are in all; `shown` holds the first of them. */
  readonly findings: number;
  readonly shown: readonly Finding[];
};

/** The report for a person. */
export function printReport(report: Report): string {
  const { events, credits } = report;
  const lines = [
    `events       JOBS ${events.JOBS}, CREDITS ${events.CREDITS}, ACCOUNTS ${events.ACCOUNTS}, DELIVERIES ${events.DELIVERIES}`,
    `aggregates   ${report.jobs} jobs, ${report.organizations} organizations, ${report.deliveries} deliveries`,
    `credits      granted ${credits.granted} = balance ${credits.balance} + held ${credits.held} + charged ${credits.charged}`,
    ...report.read_models.map((model) => `read model   ${model.name}: ${model.rows} rows up to position ${model.position}, ${model.differing} differ`),
    ...report.shown.map((finding) => `${finding.check.padEnd(12)} ${finding.subject}: ${finding.problem}`),
    ...(report.findings > report.shown.length ? [`… and ${report.findings - report.shown.length} more`] : []),
    report.ok ? 'Everything is in order.' : `${report.findings} problems.`,
  ];
  return `${lines.join('\n')}\n`;
}
