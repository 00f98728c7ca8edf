import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { Readable } from 'node:stream';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ImporterContext } from '../../services/importer/context.ts';
import { startImporter } from '../../services/importer/importer.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import { systemClock, isoTime } from '../../shared/clock/clock.ts';
import { jobDecider, type JobCommand } from '../../shared/domain/job.ts';
import type { JobState, JobStatus } from '../../shared/domain/job-state.ts';
import type { StoredEvent } from '../../shared/events/envelope.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { Cleanup } from '../../shared/lifecycle/run-service.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats } from '../../shared/nats/connect.ts';
import { openDiskStore } from '../../shared/objects/disk/disk-store.ts';
import { sourceKey, type ObjectKey } from '../../shared/objects/keys.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { handle, loadState } from '../../shared/store/handle.ts';
import { createAddressRule } from '../../shared/egress/address-rule.ts';
import { EGRESS_LIMITS } from '../../shared/egress/limits.ts';
import { applyStreams } from '../../streams/apply.ts';
import { CONSUMERS, STREAMS } from '../../streams/consumers.ts';
import { created, ORGANIZATION_ID, RESULT } from './job-events.ts';
import { startNats, type TestNats } from './servers.ts';

/** How soon a message comes again that a killed importer held, in ms; the real value would make tests slow. */
const ACK_WAIT_MS = 2_000;
/** How long a test waits for what an importer should do, in ms. */
const LIMIT_MS = 45_000;
/** Longest single upload of these tests. */
export const UPLOAD_BYTES_MAX = 2 * 2 ** 20;

const HOUR_MS = 3_600_000;

/** A running nats-server with our streams, a disk store, and importers on both. */
export class ImporterBench {
  readonly server: TestNats;
  readonly nc: NatsConnection;
  readonly folder: string;
  readonly masterKey: string;
  readonly context: ImporterContext;
  readonly #importers: Cleanup[] = [];

  private constructor(parts: { server: TestNats; folder: string; masterKey: string; context: ImporterContext }) {
    this.server = parts.server;
    this.nc = parts.context.nc;
    this.folder = parts.folder;
    this.masterKey = parts.masterKey;
    this.context = parts.context;
  }

  static async start(): Promise<ImporterBench> {
    const server = await startNats();
    const folder = await mkdtemp(join(tmpdir(), 'test-importer-'));
    const masterKey = randomBytes(32).toString('base64');
    const logger = createLogger('test', 'silent');
    const nc = await connectNats({ url: server.url, name: 'test', logger });
    const consumers = CONSUMERS.map((consumer) => ({ ...consumer, ackWaitMs: ACK_WAIT_MS }));
    await applyStreams(nc, { replicas: 1, log: () => undefined, declared: { streams: STREAMS, consumers } });
    const opened = openMasterKey(masterKey);
    const context: ImporterContext = {
      nc,
      store: createJetStreamStore(nc),
      objects: await openDiskStore({ folder: join(folder, 'objects'), publicUrl: 'http://127.0.0.1', masterKey: opened }),
      dataKeys: await openKvDataKeys(nc, opened),
      clock: systemClock,
      logger,
      singleUploadBytesMax: UPLOAD_BYTES_MAX,
      inputBytesMax: 2 * UPLOAD_BYTES_MAX,
      fetchesMax: 100,
      egress: { isAllowed: createAddressRule([]), secureContext: createSecureContext(), dnsServers: [], limits: EGRESS_LIMITS },
      cleanAgainMs: HOUR_MS,
    };
    return new ImporterBench({ server, folder, masterKey, context });
  }

  get objects(): ObjectStore {
    return this.context.objects;
  }

  /** Starts one more importer, with a connection of its own. */
  async startImporter(changes: Partial<ImporterContext> = {}): Promise<void> {
    const cleanup = new Cleanup();
    this.#importers.push(cleanup);
    const nc = await connectNats({ url: this.server.url, name: 'importer', logger: this.context.logger });
    cleanup.add('nats', () => nc.close());
    await startImporter({ ...this.context, nc, store: createJetStreamStore(nc), ...changes }, cleanup);
  }

  /** Stops all importers in order. */
  async stopImporters(): Promise<void> {
    await Promise.all(this.#importers.splice(0).map((cleanup) => cleanup.run(this.context.logger)));
  }

  async stop(): Promise<void> {
    await this.stopImporters();
    await this.nc.close();
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Appends what a command decides for a job, and answers the id. */
  async command(jobId: string, command: JobCommand): Promise<string> {
    const commandId = newId(Date.now());
    const origin = { commandId, correlationId: commandId, causationId: commandId, actor: 'operator', tenant: ORGANIZATION_ID, service: 'api', nowMs: Date.now() } as const;
    await handle(this.context.store, jobDecider, { kind: 'job', id: jobId }, command, origin);
    return jobId;
  }

  /** Creates a job whose upload window lasts `windowMs`. */
  async createJob(windowMs = HOUR_MS, data: Partial<EventData<'job.created'>> = {}, jobId = newId(Date.now())): Promise<string> {
    const nowMs = Date.now();
    const created_at = isoTime(nowMs);
    const times = { created_at, upload_url_expires_at: created_at, upload_deadline_at: isoTime(nowMs + windowMs), expires_at: isoTime(nowMs + HOUR_MS) };
    return await this.command(jobId, { type: 'create', data: created({ ...times, ...data }).data });
  }

  /** Stores the file of a job, as the api does behind the upload URL. */
  async upload(jobId: string, bytes: Buffer = png(1000)): Promise<void> {
    await this.put(sourceKey(jobId), bytes);
  }

  async put(key: ObjectKey, bytes: Buffer): Promise<void> {
    await this.objects.write(key, Readable.from([bytes]), { maxBytes: 10 * UPLOAD_BYTES_MAX });
  }

  /** A job that is being converted by its first attempt. */
  async createProcessingJob(): Promise<string> {
    const jobId = await this.createJob();
    await this.upload(jobId);
    const head = await this.objects.head(sourceKey(jobId));
    await this.command(jobId, { type: 'receive_source', source: { size_bytes: 1000, sha256: 'a'.repeat(64), etag: head?.etag ?? '' } });
    return await this.command(jobId, { type: 'start_conversion', attempt: 1, engine: 'image', engine_version: '1.2.3' });
  }

  /** Finishes a job that is being converted; the result is kept for `keepMs`. */
  async finishJob(jobId: string, attempt: number, keepMs = HOUR_MS): Promise<void> {
    await this.command(jobId, { type: 'finish', attempt, result: RESULT, billable_ms: 10, speed_factor: 1, expires_at: isoTime(Date.now() + keepMs) });
  }

  async events(jobId: string): Promise<readonly StoredEvent[]> {
    return await this.context.store.load({ kind: 'job', id: jobId });
  }

  async eventTypes(jobId: string): Promise<readonly string[]> {
    return (await this.events(jobId)).map((stored) => stored.event.type);
  }

  async state(jobId: string): Promise<JobState> {
    return (await loadState(this.context.store, jobDecider, { kind: 'job', id: jobId })).state;
  }

  /** Waits until the job has a status. */
  async waitForStatus(jobId: string, status: JobStatus, limitMs = LIMIT_MS): Promise<void> {
    await this.waitUntil(`status ${status}`, async () => {
      const state = await this.state(jobId);
      return state.kind === 'live' && state.status === status;
    }, limitMs);
  }

  /** Keys of everything that is stored for a job, sorted. */
  async objectsOf(jobId: string): Promise<readonly string[]> {
    const keys: string[] = [];
    for (const prefix of ['source/', 'result/'] as const) {
      for await (const { key } of this.objects.list(prefix)) if (key.includes(jobId)) keys.push(key);
    }
    return keys.sort();
  }

  /** Position of the timer that lies on a subject, undefined when there is none. */
  async lastTimer(subject: string): Promise<number | undefined> {
    const manager = await jetstreamManager(this.nc, { checkAPI: false });
    const message = await manager.streams.getMessage('TIMERS', { last_by_subj: subject }).catch(() => null);
    return message?.seq;
  }

  /** True when a durable consumer has had at least `count` messages and has none left, in hand or to come. */
  async isWorkedOff(stream: string, durable: string, count: number): Promise<boolean> {
    const { ack_floor, num_pending, num_ack_pending } = await (await jetstreamManager(this.nc, { checkAPI: false })).consumers.info(stream, durable);
    return ack_floor.consumer_seq >= count && num_pending === 0 && num_ack_pending === 0;
  }

  async waitUntil(what: string, check: () => Promise<boolean>, limitMs = LIMIT_MS): Promise<void> {
    await waitFor(what, limitMs, async () => ((await check()) ? true : undefined));
  }
}

/** Bytes that begin as a PNG does; an importer looks no deeper. */
export function png(sizeBytes: number): Buffer {
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(Math.max(0, sizeBytes - 8))]);
}
