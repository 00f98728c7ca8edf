/** Problems of one kind that are shown in full; all are counted. */
const SHOWN_MAX = 100;

/** Something that is not in order: which check says so, about what, and what is wrong. */
export type Finding = { readonly check: 'chain' | 'schema' | 'transition' | 'ledger' | 'deadline' | 'delivery' | 'read_model'; readonly subject: string; readonly problem: string };

/** Collects what an audit finds, with a bound on what it keeps. */
export class Findings {
  readonly shown: Finding[] = [];
  count = 0;

  add(check: Finding['check'], subject: string, problem: string): void {
    this.count += 1;
    if (this.shown.length < SHOWN_MAX) this.shown.push({ check, subject, problem });
  }
}
