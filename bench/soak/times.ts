import { connectNats } from '../../shared/nats/connect.ts';
import { createLogger } from '../../shared/log/log.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';

/** What the log says of one job that was converted, in ms. */
export interface JobTimes {
  /** From the file being there to the first attempt. */
  readonly queuedMs: number;
  /** From the first attempt to the end. */
  readonly convertedMs: number;
  /** Inside the engine alone; undefined when it failed. */
  readonly billableMs?: number;
  readonly attempts: number;
}

/** Reads the times of jobs out of the log; jobs that no attempt was made of are left out. */
export async function readTimes(natsUrl: string, jobIds: readonly string[]): Promise<ReadonlyMap<string, JobTimes>> {
  const nc = await connectNats({ url: natsUrl, name: 'soak', logger: createLogger('soak', 'silent') });
  try {
    const store = createJetStreamStore(nc);
    const times = new Map<string, JobTimes>();
    for (const id of jobIds) {
      const events = await store.load({ kind: 'job', id });
      const at = (...types: readonly string[]): number | undefined => {
        const found = events.find(({ event }) => types.includes(event.type));
        return found && Date.parse(found.envelope.time);
      };
      const [received, started, ended] = [at('job.source_received'), at('job.conversion_started'), at('job.finished', 'job.failed')];
      if (received === undefined || started === undefined || ended === undefined) continue;
      const finish = events.map(({ event }) => event).find((event) => event.type === 'job.finished');
      times.set(id, {
        queuedMs: started - received,
        convertedMs: ended - started,
        ...(finish === undefined ? {} : { billableMs: finish.data.billable_ms }),
        attempts: events.filter(({ event }) => event.type === 'job.conversion_started').length,
      });
    }
    return times;
  } finally {
    await nc.close();
  }
}
