import { expect } from 'chai';
import { waitFor } from '../../services/standalone/processes.ts';
import { AnswerTooLargeError, EgressAbortedError, EgressError } from '../../shared/egress/egress-error.ts';
import { fetchUrl, type FetchRequest } from '../../shared/egress/fetch.ts';
import type { EgressLimits } from '../../shared/egress/limits.ts';
import { startEgressBench, type EgressBench } from './egress-bench.ts';
import type { Behaviour } from './origin.ts';

/** Like the real ones, but short. */
export const SHORT_LIMITS: EgressLimits = { connectMs: 1_500, headMs: 1_000, idleMs: 800, bytesPerSecondMin: 10_000, totalMs: 4_000 };
/** Longest file of these tests. */
export const FETCH_BYTES_MAX = 100_000;
/** A hostile host costs no more time than all bounds together, and some for a busy machine. */
const ANY_MS_MAX = 12_000;
const CLOSED_LIMIT_MS = 5_000;

/** What to fetch, where that is not the usual. */
export type FetchChanges = Partial<FetchRequest> & { readonly limits?: Partial<EgressLimits> };

/** Fetches as the importer does, and tells how it ended. */
export class Fetching {
  readonly bench: EgressBench;

  private constructor(bench: EgressBench) {
    this.bench = bench;
  }

  static async start(): Promise<Fetching> {
    return new Fetching(await startEgressBench());
  }

  async fetch(url: string, changes: FetchChanges = {}): Promise<Buffer> {
    const { limits, ...request } = changes;
    const whole: FetchRequest = { url, headers: [], maxBytes: FETCH_BYTES_MAX, signal: new AbortController().signal, ...request };
    return await fetchUrl(this.bench.options({ ...SHORT_LIMITS, ...limits }), whole, async (body) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk as Uint8Array);
      return Buffer.concat(chunks);
    });
  }

  /** `<n> bytes`, or the reason of the failure, which comes within bounds. */
  async outcome(url: string, changes?: FetchChanges): Promise<string> {
    const startedMs = performance.now();
    const outcome = await this.fetch(url, changes).then((file) => `${file.length} bytes`, describeFailure);
    expect(performance.now() - startedMs, 'time').to.be.below(ANY_MS_MAX);
    return outcome;
  }

  /** The outcome of a fetch from an origin that behaves so. */
  async behaving(name: string, behave: Behaviour, changes?: FetchChanges): Promise<string> {
    const path = `/${encodeURIComponent(name)}`;
    this.bench.origin.on(path, behave);
    return await this.outcome(this.bench.url(path), changes);
  }

  /** Nothing else was reached, and nothing is open any more. */
  async requireClean(): Promise<void> {
    const { bench } = this;
    expect(bench.hits(), 'connections to other addresses').to.equal(0);
    await waitFor('the end of all connections', CLOSED_LIMIT_MS, () => (bench.origin.openConnections() + bench.otherOrigin.openConnections() === 0 ? true : undefined));
  }
}

/** Reason of a failure; the test fails when it tells anything else of the host. */
function describeFailure(error: unknown): string {
  if (error instanceof EgressError) {
    expect(JSON.stringify([error.message, error.details]), 'says nothing of the host').not.to.match(/127|example|port|\d{4,}/);
    return error.reason;
  }
  if (error instanceof AnswerTooLargeError) return `too large: ${String(error.details['max_bytes'])}`;
  if (error instanceof EgressAbortedError) return 'aborted';
  throw error;
}
