import { grantCredits } from '../../shared/ledger-client/ledger-client.ts';
import { createApiKey, createOrganization, type AccountsContext } from '../../shared/accounts/manage.ts';
import { systemClock } from '../../shared/clock/clock.ts';
import type { EventData } from '../../shared/events/registry.ts';
import { newId } from '../../shared/ids/ids.ts';
import { createLogger } from '../../shared/log/log.ts';
import { connectNats } from '../../shared/nats/connect.ts';
import { openKvDataKeys } from '../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import { createJetStreamStore } from '../../shared/store/jetstream.ts';
import type { NatsConnection } from '@nats-io/transport-node';
import { waitFor } from '../../services/standalone/processes.ts';
import type { TestService } from './service.ts';

type Scope = EventData<'account.api_key_created'>['scopes'][number];

/** A copy follows within milliseconds, on a busy machine within seconds. */
const KNOWN_LIMIT_MS = 30_000;
const ALL_SCOPES: readonly Scope[] = ['job.read', 'job.write', 'webhook.read', 'webhook.write'];

/** An API key of a test. */
export type TestKey = { readonly id: string; readonly secret: string };

/** An organization of a test. */
export interface TestOrganization {
  readonly id: string;
  /** Issues a key and waits until the api knows it. */
  newKey(mode: 'live' | 'test', options?: { readonly scopes?: readonly Scope[]; readonly expiresAt?: string }): Promise<TestKey>;
}

/** What an operator can do with a running service, for tests. */
export interface TestOperator {
  readonly nc: NatsConnection;
  readonly accounts: AccountsContext;
  /** With an active plan unless told otherwise. */
  newOrganization(credits?: number, plan?: 'free' | 'active'): Promise<TestOrganization>;
  /** One that was made before, by this operator or another. */
  findOrganization(id: string): TestOrganization;
  stop(): Promise<void>;
}

/** Connects to the servers below a running service. */
export async function openOperator(service: TestService): Promise<TestOperator> {
  const { natsUrl, masterKey } = service.addresses;
  const nc = await connectNats({ url: natsUrl, name: 'test', logger: createLogger('test', 'silent') });
  const accounts = { store: createJetStreamStore(nc), dataKeys: await openKvDataKeys(nc, openMasterKey(masterKey)), clock: systemClock };
  const findOrganization = (id: string): TestOrganization => ({ id, newKey: (mode, options = {}) => newKey(service, accounts, id, mode, options) });
  return {
    nc,
    accounts,
    findOrganization,
    async newOrganization(credits = 0, plan = 'active') {
      const id = newId(Date.now());
      await createOrganization(accounts, id, 'A test', plan);
      if (credits > 0) await grantCredits(nc, { organization_id: id, amount: credits, command_id: newId(Date.now()), correlation_id: newId(Date.now()), actor: 'operator' });
      return findOrganization(id);
    },
    stop: () => nc.close(),
  };
}

async function newKey(service: TestService, accounts: AccountsContext, organizationId: string, mode: 'live' | 'test', options: { readonly scopes?: readonly Scope[]; readonly expiresAt?: string }): Promise<TestKey> {
  const { scopes = ALL_SCOPES, expiresAt } = options;
  const issued = await createApiKey(accounts, organizationId, { key_mode: mode, scopes: [...scopes], ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) });
  if (expiresAt === undefined || Date.parse(expiresAt) > Date.now()) {
    await waitFor('the api knowing a new key', KNOWN_LIMIT_MS, async () => {
      const response = await fetch(`${service.baseUrl}/v1/me`, { headers: { 'X-API-Key': issued.secret } });
      await response.arrayBuffer();
      return response.status === 200 || undefined;
    });
  }
  return { id: issued.api_key_id, secret: issued.secret };
}
