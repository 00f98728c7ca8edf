import { readFileSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { newSecret, secretHash } from '../../shared/accounts/api-key.ts';
import { operatorOrigin } from '../../shared/accounts/manage.ts';
import { systemClock } from '../../shared/clock/clock.ts';
import { accountDecider, type AccountCommand } from '../../shared/domain/account.ts';
import { ConflictError } from '../../shared/errors/errors.ts';
import type { Origin } from '../../shared/events/envelope.ts';
import { scope } from '../../shared/events/fields.ts';
import { deriveId, newId } from '../../shared/ids/ids.ts';
import { organizationKeyName } from '../../shared/privacy/data-keys.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import type { MasterKey } from '../../shared/privacy/master-key.ts';
import { seal } from '../../shared/privacy/seal.ts';
import type { EventStore } from '../../shared/store/event-store.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import { handle } from '../../shared/store/handle.ts';
import { writePrivateFile } from './private-file.ts';

/** Credits of the demo organization. */
const DEMO_CREDITS = 1_000;

/** Contents of `demo.json`; `base_url` is the contract's, so it ends in `/v1`. */
const demoSchema = z.object({ base_url: z.string(), organization_id: z.uuid(), live_key: z.string(), test_key: z.string() });
export type Demo = z.infer<typeof demoSchema>;

/** Where the demo organization is made and told. */
export interface DemoSettings {
  readonly masterKey: MasterKey;
  readonly file: string;
  readonly publicUrl: string;
}

/**
 * On the first start of an empty installation: an organization with an active plan, credits and two keys, written to
 * `demo.json`. The file is written first and every step has a fixed id, so a start that was killed half way is
 * completed by the next one, and a later start changes nothing.
 */
export async function createDemo(nc: NatsConnection, settings: DemoSettings): Promise<void> {
  const known = readDemo(settings.file);
  if (!known && !(await isEmpty(nc))) return;
  const demo: Demo = { ...(known ?? newDemo()), base_url: `${settings.publicUrl}/v1` };
  await writePrivateFile(settings.file, `${JSON.stringify(demo, null, 2)}\n`);
  const store = createJetStreamStore(nc);
  const dataKeys = await openKvDataKeys(nc, settings.masterKey);
  const id = demo.organization_id;
  const key = await dataKeys.create(organizationKeyName(id));
  const name = seal(key, 'Demo', `${id}|name`);
  const steps: readonly (readonly [step: string, command: AccountCommand])[] = [
    ['create', { type: 'create', data: { plan: 'active', name } }],
    ['live', createKey(id, 'live', demo.live_key)],
    ['test', createKey(id, 'test', demo.test_key)],
  ];
  for (const [step, command] of steps) await handle(store, accountDecider, { kind: 'account', id }, command, origin(id, step));
  await grantOnce(store, id);
}

/** As the first event of the organization's credits; it is not loaded, because later starts find it as long as it got. */
async function grantOnce(store: EventStore, organizationId: string): Promise<void> {
  const grant = { type: 'credits.granted', data: { amount: DEMO_CREDITS } } as const;
  try {
    await store.append({ kind: 'credits', id: organizationId }, { version: 0 }, grant, origin(organizationId, 'grant'));
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

/** The demo organization of a data folder; undefined when it has none. */
export function readDemo(file: string): Demo | undefined {
  try {
    return demoSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

function newDemo(): Omit<Demo, 'base_url'> {
  return { organization_id: newId(systemClock.nowMs()), live_key: newSecret('live'), test_key: newSecret('test') };
}

function createKey(organizationId: string, key_mode: 'live' | 'test', secret: string): AccountCommand {
  const api_key_id = deriveId('demo', organizationId, key_mode);
  return { type: 'create_api_key', data: { api_key_id, key_mode, scopes: [...scope.options], secret_sha256: secretHash(secret) } };
}

function origin(organizationId: string, step: string): Origin {
  return { ...operatorOrigin(organizationId, systemClock), commandId: deriveId('demo', organizationId, step) };
}

async function isEmpty(nc: NatsConnection): Promise<boolean> {
  const { state } = await (await jetstreamManager(nc, { checkAPI: false })).streams.info('ACCOUNTS');
  return state.messages === 0;
}
