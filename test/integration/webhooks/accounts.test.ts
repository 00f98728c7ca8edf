import { mkdtemp, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { AccountsCopy } from '../../../shared/accounts/accounts-copy.ts';
import { createOrganization, operatorOrigin } from '../../../shared/accounts/manage.ts';
import { createWebhook, deleteWebhook, disableWebhook, enableWebhook, rotateWebhookSecret, type NewWebhook, type WebhooksContext } from '../../../shared/accounts/webhooks.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { streamExtent } from '../../../shared/consume/read-stream.ts';
import { DomainError, TransientError } from '../../../shared/errors/errors.ts';
import { newId } from '../../../shared/ids/ids.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { webhookKeyName, type DataKeyName, type DataKeys } from '../../../shared/privacy/data-keys.ts';
import { openKvDataKeys } from '../../../shared/privacy/kv-data-keys.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';
import { openWebhookDetails, openWebhookSecret } from '../../../shared/privacy/webhook.ts';
import { createJetStreamStore } from '../../../shared/store/jetstream.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { created } from '../../support/job-events.ts';
import { appendAll, newJob } from '../../support/log-filler.ts';
import { readLog } from '../../support/log-reading.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const logger = createLogger('test', 'silent');
const CATCH_UP_MS_MAX = 15_000;
const OVERLAP_MS = 86_400_000;
const HOOK_URL = 'https://receiver.example/hook?token=a-secret-of-the-client';
const NEW: NewWebhook = { url: HOOK_URL, description: 'for the books', key_mode: 'live', events: ['job.finished'] };

describe('webhook endpoints of accounts', function () {
  this.timeout(30_000);
  let nats: TestNats;
  let nc: NatsConnection;
  let context: WebhooksContext;
  let folder: string;
  let copy: AccountsCopy;
  let organizationId: string;

  before(async () => {
    nats = await startNats();
    nc = await connectNats({ url: nats.url, name: 'test', logger });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
    const dataKeys = await openKvDataKeys(nc, openMasterKey(randomBytes(32).toString('base64')));
    context = { store: createJetStreamStore(nc), dataKeys, clock: systemClock, jobsEnd: async () => (await streamExtent(nc, 'JOBS')).last };
    folder = await mkdtemp(join(tmpdir(), 'accounts-'));
    copy = await AccountsCopy.open(nc, logger, folder);
  });
  after(async () => {
    await copy.stop();
    await nc.close();
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    organizationId = newId(Date.now());
    await createOrganization(context, organizationId, 'A test', 'free');
  });

  const origin = () => operatorOrigin(organizationId, systemClock);
  const caughtUp = async (): Promise<AccountsCopy> => {
    await copy.catchUp(CATCH_UP_MS_MAX);
    return copy;
  };

  it('are created with a secret of their own; what was typed and the secret lie sealed in the log (§4.6 POST /webhooks, D57)', async () => {
    const issued = await createWebhook(context, origin(), NEW);
    expect(issued.secret).to.match(/^whsec_/);
    const webhook = (await caughtUp()).findWebhook(issued.webhook_id);
    const key = await context.dataKeys.get(webhookKeyName(issued.webhook_id));
    if (!webhook || !key) throw new Error('there is no endpoint');
    expect(webhook).to.deep.include({ organization_id: organizationId, key_mode: 'live', events: ['job.finished'], enabled: true, activation: 2, created_at: issued.created_at });
    expect(webhook).to.not.have.any.keys('disabled_reason', 'disabled_at', 'previous');
    expect(openWebhookDetails(key, organizationId, issued.webhook_id, webhook.details)).to.deep.equal({ url: HOOK_URL, description: 'for the books' });
    expect(openWebhookSecret(key, organizationId, issued.webhook_id, webhook.secret)).to.equal(issued.secret);
    const log = JSON.stringify(await readLog(nc, 'ACCOUNTS'));
    for (const text of ['receiver.example', 'a-secret-of-the-client', 'for the books', issued.secret]) expect(log).not.to.contain(text);
  });

  it('answer the same when the same command comes twice', async () => {
    const once = origin();
    const first = await createWebhook(context, once, NEW);
    expect(await createWebhook(context, once, NEW)).to.deep.equal(first);
    expect((await caughtUp()).webhooksOf(organizationId)).to.have.length(1);
  });

  it('are listed by mode, oldest first, and refused beyond twenty without leaving a key behind (D53)', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push((await createWebhook(context, origin(), { ...NEW, key_mode: count === 3 ? 'test' : 'live' })).webhook_id);
    let made: DataKeyName | undefined;
    const dataKeys: DataKeys = { get: (name) => context.dataKeys.get(name), destroy: (name) => context.dataKeys.destroy(name), create: (name) => context.dataKeys.create((made = name)) };
    const refused = await expectFailure(createWebhook({ ...context, dataKeys }, origin(), NEW), DomainError);
    expect(refused.code).to.equal('too_many_endpoints');
    if (made === undefined) throw new Error('no key was made');
    expect(await context.dataKeys.get(made)).to.equal(undefined);
    const known = await caughtUp();
    expect(known.webhooksOf(organizationId).map(({ webhook_id }) => webhook_id)).to.deep.equal(ids);
    expect(known.webhooksOf(organizationId, 'test').map(({ webhook_id }) => webhook_id)).to.deep.equal([ids[3]]);
    expect(known.webhooksOf(newId(Date.now()))).to.deep.equal([]);
  });

  it('are gone with their key when they are deleted, and not for a key of the other mode (§4.6 DELETE /webhooks/<webhook_id>, D53)', async () => {
    const { webhook_id } = await createWebhook(context, origin(), NEW);
    expect((await expectFailure(deleteWebhook(context, origin(), webhook_id, 'test'), DomainError)).code).to.equal('not_found');
    const position = await deleteWebhook(context, origin(), webhook_id, 'live');
    expect(position).to.equal((await streamExtent(nc, 'ACCOUNTS')).last);
    expect((await caughtUp()).findWebhook(webhook_id)).to.equal(undefined);
    expect(await context.dataKeys.get(webhookKeyName(webhook_id))).to.equal(undefined);
    expect((await expectFailure(deleteWebhook(context, origin(), webhook_id), DomainError)).code).to.equal('not_found');
    expect((await expectFailure(rotateWebhookSecret(context, origin(), webhook_id, OVERLAP_MS), DomainError)).code).to.equal('not_found');
  });

  it('are deleted although their key cannot be destroyed at once', async () => {
    const { webhook_id } = await createWebhook(context, origin(), NEW);
    const away: DataKeys = { create: (name) => context.dataKeys.create(name), get: (name) => context.dataKeys.get(name), destroy: () => Promise.reject(new TransientError('nats', 'the keys are away')) };
    await deleteWebhook({ ...context, dataKeys: away }, origin(), webhook_id);
    expect((await caughtUp()).findWebhook(webhook_id)).to.equal(undefined);
  });

  it('subscribe to what happens to jobs of their mode after they were created, and again after they were enabled (D53, D72)', async () => {
    const asks = async (): Promise<number> => {
      const [stored] = await appendAll(context.store, newJob(), [created()]);
      return stored?.position ?? 0;
    };
    const before = await asks();
    const { webhook_id } = await createWebhook(context, origin(), { ...NEW, events: ['job.created', 'job.failed'] });
    const during = await asks();
    const subscribed = (position: number, mode: 'live' | 'test' = 'live', event: 'job.created' | 'job.finished' = 'job.created') => copy.subscribers(organizationId, mode, event, position).map((webhook) => webhook.webhook_id);
    await caughtUp();
    expect(subscribed(before)).to.deep.equal([]);
    expect(subscribed(during)).to.deep.equal([webhook_id]);
    expect(subscribed(during, 'test')).to.deep.equal([]);
    expect(subscribed(during, 'live', 'job.finished')).to.deep.equal([]);

    expect(await disableWebhook(context, origin(), { webhookId: webhook_id, activation: 2 }, 'gone_410')).to.be.a('number');
    expect(await disableWebhook(context, origin(), { webhookId: webhook_id, activation: 2 }, 'failing_5_days')).to.equal(undefined);
    await caughtUp();
    expect(copy.findWebhook(webhook_id)).to.include({ enabled: false, disabled_reason: 'gone_410', activation: 2 }).and.to.have.property('disabled_at').that.is.a('string');
    expect(subscribed(await asks())).to.deep.equal([]);

    const whileDisabled = await asks();
    await enableWebhook(context, origin(), webhook_id);
    expect(await enableWebhook(context, origin(), webhook_id)).to.equal(undefined);
    await caughtUp();
    expect(copy.findWebhook(webhook_id)).to.include({ enabled: true, activation: 4 }).and.to.not.have.any.keys('disabled_reason', 'disabled_at');
    expect(subscribed(whileDisabled)).to.deep.equal([]);
    expect(subscribed(await asks())).to.deep.equal([webhook_id]);
    expect(await disableWebhook(context, origin(), { webhookId: webhook_id, activation: 2 }, 'gone_410')).to.equal(undefined);
    expect(await disableWebhook(context, origin(), { webhookId: newId(Date.now()), activation: 2 }, 'gone_410')).to.equal(undefined);
  });

  it('get a new secret beside which the old one signs for a while, and never a third (D68)', async () => {
    const { webhook_id, secret: first } = await createWebhook(context, origin(), NEW);
    const second = await rotateWebhookSecret(context, origin(), webhook_id, OVERLAP_MS);
    const third = await rotateWebhookSecret(context, origin(), webhook_id, OVERLAP_MS);
    expect(new Set([first, second.secret, third.secret]).size).to.equal(3);
    const webhook = (await caughtUp()).findWebhook(webhook_id);
    const key = await context.dataKeys.get(webhookKeyName(webhook_id));
    if (!webhook?.previous || !key) throw new Error('there is no previous secret');
    expect(openWebhookSecret(key, organizationId, webhook_id, webhook.secret)).to.equal(third.secret);
    expect(openWebhookSecret(key, organizationId, webhook_id, webhook.previous.secret)).to.equal(second.secret);
    const left = Date.parse(webhook.previous.until) - Date.now();
    expect(left).to.be.within(OVERLAP_MS - CATCH_UP_MS_MAX, OVERLAP_MS);
  });

  it('are the same in a copy that is filled anew', async () => {
    await createWebhook(context, origin(), NEW);
    const { webhook_id } = await createWebhook(context, origin(), NEW);
    await deleteWebhook(context, origin(), webhook_id);
    const fresh = await AccountsCopy.open(nc, logger);
    try {
      await fresh.catchUp(CATCH_UP_MS_MAX);
      expect(fresh.webhooksOf(organizationId)).to.deep.equal((await caughtUp()).webhooksOf(organizationId)).and.to.have.length(1);
    } finally {
      await fresh.stop();
    }
  });
});
