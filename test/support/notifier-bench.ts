import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import type { NotifierContext } from '../../services/notifier/context.ts';
import { EndpointPlaces } from '../../services/notifier/endpoint-places.ts';
import { Figures } from '../../services/notifier/figures.ts';
import { startNotifier } from '../../services/notifier/notifier.ts';
import { waitFor } from '../../services/standalone/processes.ts';
import { AccountsCopy } from '../../shared/accounts/accounts-copy.ts';
import { createOrganization } from '../../shared/accounts/manage.ts';
import { createWebhook, deleteWebhook, disableWebhook, enableWebhook, rotateWebhookSecret, type WebhooksContext } from '../../shared/accounts/webhooks.ts';
import { isoTime, systemClock } from '../../shared/clock/clock.ts';
import { shareNextLook } from '../../shared/consume/share-next-look.ts';
import { readStream, streamExtent } from '../../shared/consume/read-stream.ts';
import { DeliveriesCopy } from '../../shared/deliveries/deliveries-copy.ts';
import { deliveryDecider, type DeliveryState, type LiveDelivery } from '../../shared/domain/delivery.ts';
import { jobDecider, type JobCommand } from '../../shared/domain/job.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../shared/domain/webhooks.ts';
import type { Origin, StoredEvent } from '../../shared/events/envelope.ts';
import type { DeliveryEvent, EventData } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { Cleanup } from '../../shared/lifecycle/run-service.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats } from '../../shared/nats/connect.ts';
import { openDiskStore } from '../../shared/objects/disk/disk-store.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import { jobKeyName, type DataKeys } from '../../shared/privacy/data-keys.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { sealTyped } from '../../shared/privacy/typed.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { handle, loadState } from '../../shared/store/handle.ts';
import { applyStreams } from '../../streams/apply.ts';
import { CONSUMERS, STREAMS } from '../../streams/consumers.ts';
import { decodeMessage } from '../../shared/store/stored-message.ts';
import { startEgressBench, type EgressBench } from './egress-bench.ts';
import { SHORT_LIMITS } from './fetching.ts';
import { API_KEY_ID, created, ORGANIZATION_ID, RESULT, SOURCE } from './job-events.ts';
import { startNats, type TestNats } from './servers.ts';
import type { OriginRequest } from './origin.ts';

/** How soon a message comes again that a killed notifier held, in ms; the real value would make tests slow. */
const ACK_WAIT_MS = 2_000;
/** How long a test waits for what a notifier should do, in ms. */
const LIMIT_MS = 45_000;
const HOUR_MS = 3_600_000;

/** An endpoint of a test: where its requests arrive, and its secret. */
export type TestEndpoint = { readonly webhookId: string; readonly path: string; readonly secret: string };

/** What a test wants of an endpoint, where that is not the usual. */
export type EndpointChanges = { readonly events?: readonly WebhookEvent[]; readonly key_mode?: 'live' | 'test'; readonly url?: string; readonly organizationId?: string };

/** How a notifier of a test differs. Times are in ms. */
export type NotifierChanges = Partial<NotifierContext['terms']> & { readonly slots?: number };

/** A nats-server with our streams, receivers behind https, and notifiers. */
export class NotifierBench {
  readonly server: TestNats;
  readonly nc: NatsConnection;
  readonly folder: string;
  readonly masterKey: string;
  readonly egress: EgressBench;
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly dataKeys: DataKeys;
  readonly #notifiers: Cleanup[] = [];
  readonly #events: StoredEvent[] = [];
  readonly #logger = createLogger('test', process.env['TEST_LOG'] === undefined ? 'silent' : 'info');
  /** Endpoints that were registered so far; the path of each has its number. */
  endpoints = 0;

  private constructor(parts: Pick<NotifierBench, 'server' | 'nc' | 'folder' | 'masterKey' | 'egress' | 'objects' | 'dataKeys'>) {
    ({ server: this.server, nc: this.nc, folder: this.folder, masterKey: this.masterKey, egress: this.egress, objects: this.objects, dataKeys: this.dataKeys } = parts);
    this.store = createJetStreamStore(this.nc);
  }

  static async start({ ackWaitMs = ACK_WAIT_MS } = {}): Promise<NotifierBench> {
    const server = await startNats();
    const folder = await mkdtemp(join(tmpdir(), 'test-notifier-'));
    const masterKey = randomBytes(32).toString('base64');
    const nc = await connectNats({ url: server.url, name: 'test', logger: createLogger('test', 'silent') });
    const consumers = CONSUMERS.map((consumer) => ({ ...consumer, ackWaitMs }));
    await applyStreams(nc, { replicas: 1, log: () => undefined, declared: { streams: STREAMS, consumers } });
    const opened = openMasterKey(masterKey);
    const egress = await startEgressBench();
    const objects = await openDiskStore({ folder: join(folder, 'objects'), publicUrl: 'http://127.0.0.1', masterKey: opened });
    const bench = new NotifierBench({ server, nc, folder, masterKey, egress, objects, dataKeys: await openKvDataKeys(nc, opened) });
    await bench.createOrganization(ORGANIZATION_ID);
    return bench;
  }

  get #webhooks(): WebhooksContext {
    return { store: this.store, dataKeys: this.dataKeys, clock: systemClock, jobsEnd: async () => (await streamExtent(this.nc, 'JOBS')).last };
  }

  /** Starts one more notifier, with a connection of its own. Waits between attempts are short unless they are given. */
  async startNotifier({ slots = 100, ...terms }: NotifierChanges = {}): Promise<NotifierContext> {
    const cleanup = new Cleanup();
    this.#notifiers.push(cleanup);
    const nc = await connectNats({ url: this.server.url, name: 'notifier', logger: this.#logger });
    cleanup.add('nats', () => nc.close());
    const accounts = await AccountsCopy.open(nc, this.#logger);
    cleanup.add('accounts', () => accounts.stop());
    const deliveries = await DeliveriesCopy.open(nc, this.#logger);
    cleanup.add('deliveries', () => deliveries.stop());
    const context: NotifierContext = {
      nc,
      store: createJetStreamStore(nc),
      objects: this.objects,
      dataKeys: await openKvDataKeys(nc, openMasterKey(this.masterKey)),
      clock: systemClock,
      logger: this.#logger,
      accounts,
      catchUpAccounts: shareNextLook(() => accounts.catchUp(LIMIT_MS)),
      deliveries,
      wayOut: this.egress.options(SHORT_LIMITS),
      terms: { delaysMs: [300, 400, 500, 600], timeoutMs: 2_000, disableAfterMs: HOUR_MS, ...terms },
      places: new EndpointPlaces(slots, systemClock),
      figures: new Figures(),
    };
    await startNotifier(context, slots, cleanup);
    return context;
  }

  /** Settings of the real process, with short waits. */
  async environment(changes: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
    const caFile = join(this.folder, 'authority.pem');
    await writeFile(caFile, this.egress.authority.cert);
    return {
      PATH: process.env['PATH'] ?? '',
      NATS_URL: this.server.url,
      NATS_MONITOR_URL: this.server.monitorUrl,
      MASTER_KEY: this.masterKey,
      DATA_DIR: this.folder,
      OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.2/32',
      OUTBOUND_CA_FILE: caFile,
      OUTBOUND_DNS_SERVERS: this.egress.names.address,
      WEBHOOK_RETRY_DELAYS_SECONDS: '1,1,1,1',
      WEBHOOK_TIMEOUT_SECONDS: '3',
      LOG_LEVEL: process.env['TEST_LOG'] ?? 'warn',
      ...changes,
    };
  }

  /** Stops all notifiers in order. */
  async stopNotifiers(): Promise<void> {
    await Promise.all(this.#notifiers.splice(0).map((cleanup) => cleanup.run(this.#logger)));
  }

  async stop(): Promise<void> {
    await this.stopNotifiers();
    await this.nc.close();
    await this.server.stop();
    await this.egress.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async createOrganization(id = newId(Date.now())): Promise<string> {
    await createOrganization(this.#webhooks, id, 'Test', 'free');
    return id;
  }

  /** Registers an endpoint with a path of its own at the receiver. */
  async createEndpoint({ events = WEBHOOK_EVENTS, key_mode = 'live', url, organizationId }: EndpointChanges = {}): Promise<TestEndpoint> {
    this.endpoints += 1;
    const path = `/hook-${this.endpoints}`;
    const issued = await createWebhook(this.#webhooks, this.origin('operator', organizationId), { key_mode, events: [...events], url: url ?? this.egress.url(path) });
    return { webhookId: issued.webhook_id, path, secret: issued.secret };
  }

  async deleteEndpoint({ webhookId }: TestEndpoint): Promise<void> {
    await deleteWebhook(this.#webhooks, this.origin(), webhookId);
  }

  async enableEndpoint({ webhookId }: TestEndpoint): Promise<void> {
    await enableWebhook(this.#webhooks, this.origin(), webhookId);
  }

  async disableEndpoint({ webhookId }: TestEndpoint, activation: number): Promise<void> {
    await disableWebhook(this.#webhooks, this.origin(), { webhookId, activation }, 'failing_5_days');
  }

  async rotateSecret({ webhookId }: TestEndpoint, overlapMs: number): Promise<string> {
    return (await rotateWebhookSecret(this.#webhooks, this.origin(), webhookId, overlapMs)).secret;
  }

  /** Queues a test delivery, as the api does; answers its id. */
  async queueTest({ webhookId }: TestEndpoint, activation = 1): Promise<string> {
    const id = newId(Date.now());
    const data: EventData<'delivery.queued'> = { webhook_id: webhookId, event_id: newId(Date.now()), event: 'job.finished', activation, key_mode: 'live', source: { kind: 'test', requested_at: isoTime(Date.now()), api_key_id: API_KEY_ID } };
    await this.store.append({ kind: 'delivery', id }, { version: 0 }, { type: 'delivery.queued', data }, this.origin(`api_key:${API_KEY_ID}`));
    return id;
  }

  /** Requests that arrived at an endpoint, oldest first. */
  requestsAt({ path }: Pick<TestEndpoint, 'path'>): readonly OriginRequest[] {
    return this.egress.origin.requests.filter((request) => request.path === path);
  }

  /** Creates a job as a client would, at `nowMs` since the epoch; answers its id. */
  async createJob(data: Partial<EventData<'job.created'>> = {}, nowMs = Date.now(), jobId = newId(Date.now())): Promise<string> {
    const key = await this.dataKeys.create(jobKeyName(jobId));
    const organizationId = data.organization_id ?? ORGANIZATION_ID;
    const typed = sealTyped(key, organizationId, jobId, { tag: 'order 1', task_names: { import: 'my-file', convert: 'to-jpg', export: 'link' }, options: {}, ignored_options: [] });
    return await this.command(jobId, { type: 'create', data: created({ created_at: isoTime(nowMs), upload_deadline_at: isoTime(nowMs + HOUR_MS), expires_at: isoTime(nowMs + HOUR_MS), typed, ...data }).data }, nowMs, organizationId);
  }

  /** Takes a job to its result. */
  async finishJob(jobId: string): Promise<string> {
    await this.command(jobId, { type: 'receive_source', source: SOURCE });
    await this.command(jobId, { type: 'start_conversion', attempt: 1, engine: 'image', engine_version: '1.2.3' });
    return await this.command(jobId, { type: 'finish', attempt: 1, result: RESULT, billable_ms: 10, speed_factor: 1, expires_at: isoTime(Date.now() + HOUR_MS) });
  }

  /** Deletes a job and forgets what was typed into it, as the service does. */
  async deleteJob(jobId: string): Promise<void> {
    await this.command(jobId, { type: 'delete' });
    await this.dataKeys.destroy(jobKeyName(jobId));
  }

  async command(jobId: string, command: JobCommand, nowMs = Date.now(), organizationId = ORGANIZATION_ID): Promise<string> {
    await handle(this.store, jobDecider, { kind: 'job', id: jobId }, command, { ...this.origin('operator', organizationId), nowMs });
    return jobId;
  }

  origin(actor: Origin['actor'] = 'operator', tenant = ORGANIZATION_ID): Origin {
    const commandId = newId(Date.now());
    return { commandId, correlationId: commandId, causationId: commandId, actor, tenant, service: 'api', nowMs: Date.now() };
  }

  /** Every event in `DELIVERIES`, oldest first. Only what is new is read each time. */
  async deliveryEvents(): Promise<readonly StoredEvent[]> {
    const { last } = await streamExtent(this.nc, 'DELIVERIES');
    const events: StoredEvent[] = [];
    for await (const message of readStream(this.nc, 'DELIVERIES', (this.#events.at(-1)?.position ?? 0) + 1, last)) events.push(decodeMessage(message.subject, message.position, message.bytes));
    // Somebody else may have read them meanwhile.
    const known = this.#events.at(-1)?.position ?? 0;
    this.#events.push(...events.filter(({ position }) => position > known));
    return this.#events;
  }

  /** Deliveries to an endpoint as they stand, in the order in which they were queued. */
  async deliveriesTo({ webhookId }: Pick<TestEndpoint, 'webhookId'>): Promise<readonly (LiveDelivery & { readonly id: string })[]> {
    const deliveries = new Map<string, DeliveryState>();
    for (const { aggregate, event } of await this.deliveryEvents()) {
      if (event.type === 'delivery.queued' && event.data.webhook_id !== webhookId) continue;
      const before = deliveries.get(aggregate.id);
      // The stream DELIVERIES holds events of deliveries only; `decode` checked it.
      if (before || event.type === 'delivery.queued') deliveries.set(aggregate.id, deliveryDecider.evolve(before ?? deliveryDecider.initialState, event as DeliveryEvent));
    }
    return [...deliveries].flatMap(([id, state]) => (state.kind === 'live' ? [{ ...state, id }] : []));
  }

  async delivery(id: string): Promise<LiveDelivery> {
    const { state } = await loadState(this.store, deliveryDecider, { kind: 'delivery', id });
    if (state.kind !== 'live') throw new Error('there is no such delivery');
    return state;
  }

  /** Waits until the endpoint has had so many deliveries and all have a status. */
  async waitForStatus(endpoint: TestEndpoint, status: LiveDelivery['status'], count = 1): Promise<void> {
    await this.waitUntil(`${count} deliveries with status ${status}`, async () => {
      const deliveries = await this.deliveriesTo(endpoint);
      return deliveries.length === count && deliveries.every((delivery) => delivery.status === status);
    });
  }

  async waitForRequests(endpoint: TestEndpoint, count: number, limitMs = LIMIT_MS): Promise<void> {
    await this.waitUntil(`${count} requests`, async () => Promise.resolve(this.requestsAt(endpoint).length >= count), limitMs);
  }

  async waitUntil(what: string, check: () => Promise<boolean>, limitMs = LIMIT_MS): Promise<void> {
    await waitFor(what, limitMs, async () => ((await check()) ? true : undefined));
  }
}
