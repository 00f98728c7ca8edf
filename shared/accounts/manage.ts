import { accountDecider } from '../domain/account.ts';
import type { Clock } from '../clock/clock.ts';
import type { Origin } from '../events/envelope.ts';
import type { EventData } from '../events/registry.ts';
import { newId } from '../ids/ids.ts';
import { organizationKeyName, type DataKeys } from '../privacy/data-keys.ts';
import { seal } from '../privacy/seal.ts';
import type { EventStore } from '../store/event-store.ts';
import { handle } from '../store/handle.ts';
import { newSecret, secretHash } from './api-key.ts';

type Plan = EventData<'account.created'>['plan'];
type NewKey = Omit<EventData<'account.api_key_created'>, 'api_key_id' | 'secret_sha256'>;

/** What is needed to change accounts. */
export type AccountsContext = { readonly store: EventStore; readonly dataKeys: DataKeys; readonly clock: Clock };

/** A secret that was just made; shown once and kept nowhere. */
export type IssuedKey = { readonly api_key_id: string; readonly secret: string; readonly position: number };

/** Creates an organization; its name is sealed under its own key (D88). Asked again with the same id it does nothing. */
export async function createOrganization(context: AccountsContext, organizationId: string, name: string, plan: Plan): Promise<void> {
  const key = await context.dataKeys.create(organizationKeyName(organizationId));
  const data = { plan, name: seal(key, name, `${organizationId}|name`) };
  await change(context, organizationId, { type: 'create', data });
}

/** Moves an organization to a plan. Answers the position of the change, or nothing when it had that plan already. */
export async function changePlan(context: AccountsContext, organizationId: string, plan: Plan): Promise<number | undefined> {
  return change(context, organizationId, { type: 'change_plan', plan });
}

/** Creates an API key (§5.8). */
export async function createApiKey(context: AccountsContext, organizationId: string, key: NewKey): Promise<IssuedKey> {
  const api_key_id = newId(context.clock.nowMs());
  const secret = newSecret(key.key_mode);
  const position = await change(context, organizationId, { type: 'create_api_key', data: { ...key, api_key_id, secret_sha256: secretHash(secret) } });
  return { api_key_id, secret, position: position ?? 0 };
}

/** Gives a key a new secret of the same mode; the old one stops working at once and the id stays (D11). */
export async function rotateApiKey(context: AccountsContext, organizationId: string, apiKeyId: string, keyMode: 'live' | 'test'): Promise<IssuedKey> {
  const secret = newSecret(keyMode);
  const position = await change(context, organizationId, { type: 'rotate_api_key', data: { api_key_id: apiKeyId, secret_sha256: secretHash(secret) } });
  return { api_key_id: apiKeyId, secret, position: position ?? 0 };
}

/** Revokes a key for good. Answers the position of the change, or nothing when it was revoked before. */
export async function revokeApiKey(context: AccountsContext, organizationId: string, apiKeyId: string): Promise<number | undefined> {
  return change(context, organizationId, { type: 'revoke_api_key', api_key_id: apiKeyId });
}

async function change(context: AccountsContext, organizationId: string, command: Parameters<typeof accountDecider.decide>[0]): Promise<number | undefined> {
  const handled = await handle(context.store, accountDecider, { kind: 'account', id: organizationId }, command, operatorOrigin(organizationId, context.clock));
  return handled.appended?.position;
}

/** Origin of what an operator does at the command line. */
export function operatorOrigin(organizationId: string, clock: Clock): Origin {
  const commandId = newId(clock.nowMs());
  return { commandId, correlationId: commandId, causationId: commandId, actor: 'operator', tenant: organizationId, service: 'cli', nowMs: clock.nowMs() };
}
