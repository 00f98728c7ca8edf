import { print, type Row } from '../table.ts';
import type { Sample } from './memory.ts';
import { countBy, quantilesOf, type Quantiles } from './quantiles.ts';
import type { Outcome } from './soak-client.ts';
import type { JobTimes } from './times.ts';

/** Causes that lie in the file; any other end than these is the service's. */
const FILE_CAUSES = new Set([
  'empty_file', 'not_what_it_claims', 'damaged', 'too_many_pixels', 'too_many_frames', 'page_not_found', 'too_many_pages', 'too_many_cells', 'too_long',
  'unpacks_too_large', 'password_required', 'wrong_password', 'no_text', 'no_audio', 'no_video', 'unsupported_feature',
]);
/** Points of time at which the memory is told. */
const POINTS = 8;
/** Files that are named in each list. */
const NAMED_MAX = 2_000;

/** What is left when all is done; empty lists and `undefined` are as it should be, or were not looked at. */
export interface Left {
  /** Command lines of processes that outlived the service. */
  readonly processes: readonly string[];
  /** Entries of the temporary folder after the stop. */
  readonly temporary: readonly string[];
  /** Files of sources whose jobs have ended. */
  readonly sources: number;
  /** What `audit verify` says; undefined when it was not run. */
  readonly audit: { readonly ok: boolean; readonly findings: number } | undefined;
}

/** All that a soak found. */
export interface SoakReport {
  readonly ok: boolean;
  readonly files: number;
  readonly seconds: number;
  readonly ends: Readonly<Record<string, number>>;
  /** How often each pair was converted, and how often it finished. */
  readonly pairs: Readonly<Record<string, string>>;
  readonly times_ms: Readonly<Record<string, Quantiles>>;
  readonly repeated_attempts: number;
  /** Files whose end lies in no fault of theirs. */
  readonly suspicious: readonly string[];
  /** All files that did not finish, in words, for those who want to look at them. */
  readonly failed: readonly string[];
  readonly memory_mib: readonly Readonly<Record<string, number | string>>[];
  readonly left: Left;
}

/** True for an end that does not lie in the file. */
export function isSuspicious({ end }: Outcome): boolean {
  return end !== 'finished' && !FILE_CAUSES.has(end);
}

/** Puts together what was seen. */
export function makeReport(outcomes: readonly Outcome[], times: ReadonlyMap<string, JobTimes>, samples: readonly Sample[], left: Left, seconds: number): SoakReport {
  const suspicious = outcomes.filter(isSuspicious);
  const done = outcomes.filter(({ end }) => end === 'finished');
  const measured = [...times.values()];
  return {
    ok: suspicious.length === 0 && left.processes.length === 0 && left.temporary.length === 0 && left.sources === 0 && left.audit?.ok !== false,
    files: outcomes.length,
    seconds: Math.round(seconds),
    ends: countBy(outcomes.map(({ end }) => end)),
    pairs: tellPairs(outcomes),
    times_ms: {
      'whole, as a client sees it': quantilesOf(done.map(({ tookMs }) => tookMs)),
      'waiting for a place': quantilesOf(measured.map(({ queuedMs }) => queuedMs)),
      'conversion, with reading and storing': quantilesOf(measured.map(({ convertedMs }) => convertedMs)),
      'inside the engine': quantilesOf(measured.flatMap(({ billableMs }) => billableMs ?? [])),
    },
    repeated_attempts: measured.filter(({ attempts }) => attempts > 1).length,
    suspicious: suspicious.slice(0, NAMED_MAX).map(describeOutcome),
    failed: outcomes.filter(({ end }) => end !== 'finished').slice(0, NAMED_MAX).map(describeOutcome),
    memory_mib: tellMemory(samples),
    left,
  };
}

/** Prints the report as text. */
export function printSoak(report: SoakReport): void {
  write(`\n${report.files} files in ${report.seconds} s`);
  print([['end', 'files'], ...Object.entries(report.ends).map(([end, count]) => [end, String(count)])]);
  print([['pair', 'finished of'], ...Object.entries(report.pairs)]);
  print([['time, ms', 'p50', 'p95', 'p99', 'max'], ...Object.entries(report.times_ms).map(([name, { p50, p95, p99, max }]): Row => [name, ...[p50, p95, p99, max].map(String)])]);
  const kinds = [...new Set(report.memory_mib.flatMap((point) => Object.keys(point)))];
  if (kinds.length > 0) print([kinds, ...report.memory_mib.map((point) => kinds.map((kind) => String(point[kind] ?? '')))]);
  for (const line of report.suspicious) write(line);
  write(`conversions attempted more than once: ${report.repeated_attempts}`);
  const { processes, temporary, sources, audit } = report.left;
  write(`left: ${processes.length} processes, ${temporary.length} temporary files, ${sources} sources; audit verify: ${audit === undefined ? 'not run' : `${audit.findings} findings`}`);
  for (const line of [...processes, ...temporary]) write(`  ${line}`);
  write(report.ok ? 'ok' : 'NOT OK');
}

/** One file in words. */
export function describeOutcome({ end, to, path, tookMs, jobId }: Outcome): string {
  return `${end}: ${path} to ${to}, ${Math.round(tookMs)} ms, job ${jobId ?? 'none'}`;
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

function tellPairs(outcomes: readonly Outcome[]): Readonly<Record<string, string>> {
  const all = countBy(outcomes.map(({ from, to }) => `${from} to ${to}`));
  const done = countBy(outcomes.filter(({ end }) => end === 'finished').map(({ from, to }) => `${from} to ${to}`));
  return Object.fromEntries(Object.entries(all).map(([pair, count]) => [pair, `${done[pair] ?? 0} of ${count}`]));
}

/** The most that each kind used in each stretch of time: whole MiB, and in brackets how many processes there were. */
function tellMemory(samples: readonly Sample[]): readonly Readonly<Record<string, number | string>>[] {
  const stretch = Math.max(1, Math.ceil(samples.length / POINTS));
  const points: Readonly<Record<string, number | string>>[] = [];
  for (let start = 0; start < samples.length; start += stretch) {
    const part = samples.slice(start, start + stretch);
    const most = new Map<string, { mib: number; processes: number }>();
    for (const { uses } of part) {
      for (const [kind, use] of uses) if (use.mib > (most.get(kind)?.mib ?? 0)) most.set(kind, use);
    }
    const kinds = [...most].toSorted(([a], [b]) => a.localeCompare(b)).map(([kind, { mib, processes }]) => [kind, processes > 1 ? `${Math.round(mib)} (${processes})` : Math.round(mib)] as const);
    points.push({ second: Math.round(part.at(-1)?.second ?? 0), ...Object.fromEntries(kinds) });
  }
  return points;
}
