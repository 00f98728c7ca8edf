import { readFile } from 'node:fs/promises';
import { descendantsOf, listProcesses, type Process } from '../../test/support/process-tree.ts';

/** How often memory is looked at, in ms. */
const SAMPLE_EVERY_MS = 2_000;

/** Kinds of processes, by what their command lines hold; the first that fits counts. */
const KINDS: readonly (readonly [kind: string, mark: RegExp])[] = [
  ['api', /services\/api\/main/],
  ['importer', /services\/importer\/main/],
  ['converter', /services\/converter\/main/],
  ['ledger', /services\/ledger\/main/],
  ['projections', /projections\/main/],
  ['edition', /services\/standalone\/main/],
  ['nats-server', /nats-server/],
  ['postgres', /postgres/],
  ['bwrap', /^(?:\S*\/)?(?:bwrap|setpriv|prlimit|timeout) /],
  ['soffice', /soffice|oosplash/],
  ['office worker', /python3/],
  ['ffmpeg', /ffmpeg|ffprobe/],
  ['poppler', /pdfto|pdfinfo|qpdf/],
  ['converter child', /services\/converter\//],
];

/** Memory of one kind of processes at one moment: MiB in all, and how many they were. */
export interface Use {
  readonly mib: number;
  readonly processes: number;
}

/** All kinds at one moment. */
export interface Sample {
  /** Seconds since the start. */
  readonly second: number;
  readonly uses: ReadonlyMap<string, Use>;
}

/** Looks every two seconds at the memory of a process and of all that descend from it, until it is stopped. */
export class MemoryWatch {
  readonly samples: Sample[] = [];
  readonly #seen = new Map<number, string>();
  readonly #pid: number;
  readonly #startedMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(pid: number) {
    this.#pid = pid;
    this.#plan();
  }

  /** Takes one sample now. */
  async sample(): Promise<Sample> {
    const uses = new Map<string, Use>();
    for (const { pid, command } of [{ pid: this.#pid, command: 'services/standalone/main' }, ...descendantsOf(this.#pid)]) {
      this.#seen.set(pid, command);
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const mib = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
      const kind = KINDS.find(([, mark]) => mark.test(command))?.[0] ?? 'other';
      const use = uses.get(kind) ?? { mib: 0, processes: 0 };
      uses.set(kind, { mib: use.mib + mib, processes: use.processes + 1 });
    }
    const sample = { second: (performance.now() - this.#startedMs) / 1000, uses };
    this.samples.push(sample);
    return sample;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Those of the processes seen that still run. */
  survivors(): readonly Process[] {
    return listProcesses().filter(({ pid, command }) => this.#seen.get(pid) === command);
  }

  #plan(): void {
    this.#timer = setTimeout(() => {
      void this.sample().finally(() => {
        if (!this.#isStopped) this.#plan();
      });
    }, SAMPLE_EVERY_MS);
  }
}
