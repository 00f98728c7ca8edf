import { DomainError } from '../errors/errors.ts';
import type { AccountEvent, EventData } from '../events/registry.ts';
import type { Decider } from './decider.ts';
import { decideWebhook, evolveWebhooks, type Webhook, type WebhookCommand } from './webhooks.ts';

/** An API key as the log tells it; the secret itself is nowhere (§5). */
export type ApiKey = EventData<'account.api_key_created'> & { readonly revoked: boolean };

/** An organization: its plan, its keys and its webhook endpoints. */
export type AccountState =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'live';
      /** How many events it has. */
      readonly version: number;
      readonly plan: EventData<'account.created'>['plan'];
      readonly name: string;
      readonly keys: ReadonlyMap<string, ApiKey>;
      readonly webhooks: ReadonlyMap<string, Webhook>;
    };

export type AccountCommand =
  | { readonly type: 'create'; readonly data: EventData<'account.created'> }
  | { readonly type: 'change_plan'; readonly plan: EventData<'account.created'>['plan'] }
  | { readonly type: 'create_api_key'; readonly data: EventData<'account.api_key_created'> }
  | { readonly type: 'rotate_api_key'; readonly data: EventData<'account.api_key_rotated'> }
  | { readonly type: 'revoke_api_key'; readonly api_key_id: string }
  | WebhookCommand;

type Live = Extract<AccountState, { kind: 'live' }>;

/** Rules of organizations, API keys and webhook endpoints (§4.6, §5, D11, D62). */
export const accountDecider: Decider<AccountState, AccountCommand, AccountEvent> = {
  initialState: { kind: 'none' },
  decide(command, state) {
    if (command.type === 'create') {
      if (state.kind === 'live') throw new DomainError('already_exists', 'The organization exists already.');
      return { type: 'account.created', data: command.data };
    }
    if (state.kind === 'none') throw new DomainError('not_found', 'There is no such organization.');
    switch (command.type) {
      case 'change_plan':
        return command.plan === state.plan ? null : { type: 'account.plan_changed', data: { plan: command.plan } };
      case 'create_api_key':
        if (state.keys.has(command.data.api_key_id)) throw new DomainError('already_exists', 'The API key exists already.');
        return { type: 'account.api_key_created', data: command.data };
      case 'rotate_api_key':
        if (requireKey(command.data.api_key_id, state).revoked) throw new DomainError('revoked', 'The API key is revoked; create a new one.');
        return { type: 'account.api_key_rotated', data: command.data };
      case 'revoke_api_key':
        return requireKey(command.api_key_id, state).revoked ? null : { type: 'account.api_key_revoked', data: { api_key_id: command.api_key_id } };
      case 'create_webhook':
      case 'delete_webhook':
      case 'disable_webhook':
      case 'enable_webhook':
      case 'rotate_webhook_secret':
        return decideWebhook(command, state.webhooks, state.version);
      default:
        return assertNever(command);
    }
  },
  evolve(state, event) {
    if (event.type === 'account.created') return { kind: 'live', version: 1, ...event.data, keys: new Map(), webhooks: new Map() };
    if (state.kind === 'none') return state;
    const next: Live = { ...state, version: state.version + 1 };
    switch (event.type) {
      case 'account.plan_changed':
        return { ...next, plan: event.data.plan };
      case 'account.api_key_created':
        return withKey(next, { ...event.data, revoked: false });
      case 'account.api_key_rotated':
        return withKey(next, { ...requireKey(event.data.api_key_id, state), secret_sha256: event.data.secret_sha256 });
      case 'account.api_key_revoked':
        return withKey(next, { ...requireKey(event.data.api_key_id, state), revoked: true });
      case 'account.webhook_created':
      case 'account.webhook_deleted':
      case 'account.webhook_disabled':
      case 'account.webhook_enabled':
      case 'account.webhook_secret_rotated':
        return { ...next, webhooks: evolveWebhooks(state.webhooks, event, next.version) };
      default:
        return assertNever(event);
    }
  },
};

function requireKey(id: string, state: Live): ApiKey {
  const key = state.keys.get(id);
  if (!key) throw new DomainError('not_found', 'There is no such API key.');
  return key;
}

function withKey(state: Live, key: ApiKey): AccountState {
  return { ...state, keys: new Map(state.keys).set(key.api_key_id, key) };
}

function assertNever(value: never): never {
  throw new TypeError(`unhandled ${JSON.stringify(value)}`);
}
