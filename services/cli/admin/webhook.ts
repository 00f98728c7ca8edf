import { waitUntilApplied } from '../../../shared/accounts/applied.ts';
import { operatorOrigin } from '../../../shared/accounts/manage.ts';
import type { WebhookEndpoint } from '../../../shared/accounts/webhook-tables.ts';
import { enableWebhook, rotateWebhookSecret } from '../../../shared/accounts/webhooks.ts';
import { loadSettings } from '../../../shared/config/load.ts';
import { streamExtent } from '../../../shared/consume/read-stream.ts';
import { accountDecider } from '../../../shared/domain/account.ts';
import { DomainError } from '../../../shared/errors/errors.ts';
import { webhookKeyName } from '../../../shared/privacy/data-keys.ts';
import { openWebhookDetails } from '../../../shared/privacy/webhook.ts';
import { loadState } from '../../../shared/store/handle.ts';
import { STREAM_OF } from '../../../shared/store/subjects.ts';
import { parseId, required } from '../arguments.ts';
import type { Command, OptionValues } from '../command.ts';
import { withAccounts, withConnection, type Connection } from '../connection.ts';
import { requireApplied } from './applied.ts';

type Answer = Readonly<Record<string, unknown>>;
const JSON_OPTION = { json: { type: 'boolean' } } as const;

/** `admin webhook list`: the endpoints of an organization, of both modes, oldest first; never their secrets. */
export const webhookList: Command = {
  name: 'webhook list',
  usage: '--org ID [--json]',
  summary: 'Lists the webhook endpoints of an organization, and why one is disabled.',
  options: { org: { type: 'string' }, ...JSON_OPTION },
  arguments: [],
  async run(values) {
    const organizationId = parseId('--org', required(values, 'org'));
    return withConnection(async (connection) => {
      const { state } = await loadState(connection.store, accountDecider, { kind: 'account', id: organizationId });
      if (state.kind === 'none') throw new DomainError('not_found', `there is no organization ${organizationId}`);
      const endpoints = await withAccounts(connection, async (accounts) => accounts.webhooksOf(organizationId));
      const webhooks = (await Promise.all(endpoints.map((endpoint) => describe(connection, endpoint)))).flat();
      return print(values, { organization_id: organizationId, webhooks }, webhooks.length === 0 ? 'The organization has no webhook endpoints.' : webhooks.map(lineOf).join('\n'));
    });
  },
};

/** `admin webhook enable`: what happened while it was disabled is not sent to it; the client may replay it (D72). */
export const webhookEnable: Command = {
  name: 'webhook enable',
  usage: 'WEBHOOK_ID [--json]',
  summary: 'Enables a webhook endpoint that was disabled; events from now on are sent to it.',
  options: JSON_OPTION,
  arguments: ['WEBHOOK_ID'],
  run: (values, [webhookId]) =>
    withEndpoint(parseId('WEBHOOK_ID', webhookId), async (connection, { webhook_id, organization_id }) => {
      const context = { ...connection, jobsEnd: async () => (await streamExtent(connection.nc, STREAM_OF.job)).last };
      const position = await enableWebhook(context, operatorOrigin(organization_id, connection.clock), webhook_id);
      if (position !== undefined) requireApplied(await waitUntilApplied(connection.nc, position));
      return print(values, { webhook_id, enabled: true }, `Webhook endpoint ${webhook_id} ${position === undefined ? 'was enabled already' : 'is enabled'}.`);
    }),
};

/** `admin webhook rotate-secret`: prints the new secret, which is shown only here; the old one signs along for a day (D68). */
export const webhookRotateSecret: Command = {
  name: 'webhook rotate-secret',
  usage: 'WEBHOOK_ID [--json]',
  summary: 'Gives a webhook endpoint a new secret and prints it, once; the old one signs along for WEBHOOK_ROTATION_OVERLAP_SECONDS.',
  options: JSON_OPTION,
  arguments: ['WEBHOOK_ID'],
  run: (values, [webhookId]) =>
    withEndpoint(parseId('WEBHOOK_ID', webhookId), async (connection, { webhook_id, organization_id }) => {
      const { WEBHOOK_ROTATION_OVERLAP_SECONDS: overlapSeconds } = loadSettings(process.env, ['WEBHOOK_ROTATION_OVERLAP_SECONDS']);
      const { secret, position } = await rotateWebhookSecret(connection, operatorOrigin(organization_id, connection.clock), webhook_id, overlapSeconds * 1000);
      const missing = await waitUntilApplied(connection.nc, position);
      // The secret is shown nowhere else, so it is printed whatever the other processes say.
      if (missing.length > 0) process.stderr.write(`admin: the secret is stored, but these processes have not confirmed it yet: ${missing.join(', ')}\n`);
      return print(values, { webhook_id, secret }, `Secret of webhook endpoint ${webhook_id}, shown only now: ${secret}\nDeliveries are signed with the old secret too for ${overlapSeconds} seconds.`);
    }),
};

async function withEndpoint<T>(webhookId: string, work: (connection: Connection, endpoint: WebhookEndpoint) => Promise<T>): Promise<T> {
  return withConnection(async (connection) => {
    const endpoint = await withAccounts(connection, async (accounts) => accounts.findWebhook(webhookId));
    if (!endpoint) throw new DomainError('not_found', `there is no webhook endpoint ${webhookId}`);
    return work(connection, endpoint);
  });
}

/** Nothing when its key is gone: it was deleted a moment ago. */
async function describe({ dataKeys }: Connection, endpoint: WebhookEndpoint): Promise<readonly Answer[]> {
  const { webhook_id, organization_id, key_mode, events, enabled, created_at, disabled_reason = null, disabled_at = null } = endpoint;
  const key = await dataKeys.get(webhookKeyName(webhook_id));
  if (!key) return [];
  const { url, description = '' } = openWebhookDetails(key, organization_id, webhook_id, endpoint.details);
  return [{ webhook_id, mode: key_mode, url, events, description, enabled, disabled_reason, disabled_at, created_at }];
}

function lineOf({ webhook_id, mode, enabled, disabled_reason, disabled_at, events, url }: Answer): string {
  const state = enabled === true ? 'enabled' : `disabled ${String(disabled_reason)} ${String(disabled_at)}`;
  return [webhook_id, mode, state, String(events), url].join('  ');
}

/** One JSON object for programs, sentences for people. */
function print(values: OptionValues, answer: Answer, text: string): Answer | undefined {
  if (values['json'] === true) return answer;
  process.stdout.write(`${text}\n`);
  return undefined;
}
