import type { EventData } from '../../shared/events/registry.ts';

type Attempted = EventData<'delivery.attempted'>;

/** What came of an attempt: `delivered`, or why it failed. */
export type AttemptOutcome = 'delivered' | NonNullable<Attempted['failure']>;

/** What is read out of elsewhere when the figures are asked for. */
export type Readings = {
  /** Since when the delivery waits that has waited longest for an attempt that is due, in ms; 0 when none does. */
  readonly oldestDueAgeMs: number;
  /** Endpoints that are disabled now. */
  readonly endpointsDisabled: number;
  /** Attempts that are being made now. */
  readonly running: number;
};

/** Before there is anything to read. */
const NOTHING_READ: Readings = { oldestDueAgeMs: 0, endpointsDisabled: 0, running: 0 };

/** Counts what one notifier does, for operators. */
export class Figures {
  readonly #attempts = new Map<AttemptOutcome, number>();
  #read: (() => Readings) | undefined;
  #queued = 0;
  #putOff = 0;
  #disabled = 0;

  /** Says where the rest is read from. */
  readFrom(read: () => Readings): void {
    this.#read = read;
  }

  countAttempt(outcome: AttemptOutcome): void {
    this.#attempts.set(outcome, (this.#attempts.get(outcome) ?? 0) + 1);
  }

  countQueued(): void {
    this.#queued += 1;
  }

  countPutOff(): void {
    this.#putOff += 1;
  }

  countDisabled(): void {
    this.#disabled += 1;
  }

  /** All of it, for a line in the log; counts begin with the process. */
  summarize(): Readonly<Record<string, unknown>> {
    const { oldestDueAgeMs, endpointsDisabled, running } = this.#read?.() ?? NOTHING_READ;
    return { attempts: Object.fromEntries(this.#attempts), queued: this.#queued, put_off: this.#putOff, disabled: this.#disabled, endpoints_disabled: endpointsDisabled, oldest_due_age_ms: oldestDueAgeMs, running };
  }

  /** The same in the text format of Prometheus. */
  render(): string {
    const { oldestDueAgeMs, endpointsDisabled, running } = this.#read?.() ?? NOTHING_READ;
    const attempts = [...this.#attempts].map(([outcome, count]) => `notifier_attempts_total{outcome="${outcome}"} ${count}`);
    return [
      ...describe('notifier_attempts_total', 'counter', 'Attempts to deliver an event, by what came of them.'),
      ...attempts,
      ...metric('notifier_deliveries_queued_total', 'counter', 'Deliveries queued by this process for events of jobs.', this.#queued),
      ...metric('notifier_deliveries_put_off_total', 'counter', 'Times that a delivery found no place at its endpoint and was put off.', this.#putOff),
      ...metric('notifier_endpoints_disabled_total', 'counter', 'Endpoints disabled by this process.', this.#disabled),
      ...metric('notifier_endpoints_disabled', 'gauge', 'Endpoints that are disabled now.', endpointsDisabled),
      ...metric('notifier_attempts_running', 'gauge', 'Attempts that are being made now.', running),
      ...metric('notifier_oldest_due_delivery_age_seconds', 'gauge', 'Age of the oldest delivery whose attempt is due; 0 when none is.', oldestDueAgeMs / 1000),
      '',
    ].join('\n');
  }
}

function metric(name: string, type: 'counter' | 'gauge', help: string, value: number): readonly string[] {
  return [...describe(name, type, help), `${name} ${value}`];
}

function describe(name: string, type: 'counter' | 'gauge', help: string): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}
