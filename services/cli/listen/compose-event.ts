import { loadSettings } from '../../../shared/config/load.ts';
import { readRunFile } from '../../../shared/config/run-file.ts';
import { retryTransient } from '../../../shared/consume/retry.ts';
import type { ShownTyped } from '../../../shared/domain/job-view.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../../shared/domain/webhooks.ts';
import { Defect } from '../../../shared/errors/errors.ts';
import type { StoredEvent } from '../../../shared/events/envelope.ts';
import { OBJECT_SETTINGS, openObjectStore } from '../../../shared/objects/open-store.ts';
import type { DataKeys } from '../../../shared/privacy/data-keys.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { composeBody } from '../../../shared/webhooks/body.ts';
import { webhookEventId, wireEventId } from '../../../shared/webhooks/ids.ts';
import { FORGOTTEN_TYPED, takeSnapshot, type SnapshotSources } from '../../../shared/webhooks/job-snapshot.ts';
import { openShown } from '../../../shared/webhooks/shown-typed.ts';
import type { Connection } from '../connection.ts';

/** What bodies are made from. */
export type EventSources = SnapshotSources & { readonly dataKeys: DataKeys };

/** An event as a registered endpoint would get it. */
export type ComposedEvent = { readonly eventId: string; readonly event: WebhookEvent; readonly jobId: string; readonly body: Uint8Array };

/** Links are made under the address of the running service, unless the settings say another. Throws `ConfigurationError`. */
export async function openSources({ store, dataKeys, service }: Connection): Promise<EventSources> {
  const settings = loadSettings(process.env, OBJECT_SETTINGS);
  const publicUrl = settings.PUBLIC_URL ?? readRunFile(settings.DATA_DIR)?.base_url;
  const objects = await openObjectStore(publicUrl === undefined ? settings : { ...settings, PUBLIC_URL: publicUrl }, openMasterKey(service.masterKey));
  return { store, dataKeys, objects };
}

/** Composes an event of a job: id and bytes are those that a registered endpoint gets (§6 body, D69). Throws `TransientError`. */
export async function composeEvent(sources: EventSources, cause: StoredEvent, signal: AbortSignal): Promise<ComposedEvent> {
  const event = WEBHOOK_EVENTS.find((name) => name === cause.event.type);
  if (event === undefined) throw new Defect('an event came that no endpoint can subscribe to');
  const jobId = cause.aggregate.id;
  const eventId = wireEventId(webhookEventId(jobId, event, cause.position));
  const { job, at } = await retryTransient(async () => takeSnapshot(sources, { jobId, version: cause.version, typed: await readShown(sources, cause) }), signal);
  return { eventId, event, jobId, body: composeBody({ eventId, event, createdAt: at, job, isTest: false }) };
}

async function readShown({ store, dataKeys }: EventSources, cause: StoredEvent): Promise<ShownTyped> {
  const [first] = await store.load(cause.aggregate);
  const shown = first?.event.type === 'job.created' ? await openShown(dataKeys, cause.aggregate.id, first.event.data) : undefined;
  return shown ?? FORGOTTEN_TYPED;
}
