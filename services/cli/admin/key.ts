import { z } from 'zod';
import { waitUntilApplied } from '../../../shared/accounts/applied.ts';
import { createApiKey, revokeApiKey, rotateApiKey, type IssuedKey } from '../../../shared/accounts/manage.ts';
import { accountDecider, type ApiKey } from '../../../shared/domain/account.ts';
import { DomainError } from '../../../shared/errors/errors.ts';
import { keyMode, scope } from '../../../shared/events/fields.ts';
import { loadState } from '../../../shared/store/handle.ts';
import { parseId, parseOption, required } from '../arguments.ts';
import { UsageError, type Command } from '../command.ts';
import { withAccounts, withConnection, type Connection } from '../connection.ts';
import { requireApplied } from './applied.ts';

const modeOption = z.enum(keyMode.options, 'must be live or test');
const scopesOption = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))])
  .pipe(z.array(z.enum(scope.options, `must be some of ${scope.options.join(',')}`)).min(1));
const expiryOption = z.iso.datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z' }).transform((text) => new Date(text).toISOString());

/** `admin key create`: prints the secret, which is shown only here (§5.8). */
export const keyCreate: Command = {
  name: 'key create',
  usage: `--org ID --mode live|test [--scopes ${scope.options.join(',')}] [--expires-at TIME]`,
  summary: 'Creates an API key and prints its secret, once. Without --scopes it has all of them.',
  options: { org: { type: 'string' }, mode: { type: 'string' }, scopes: { type: 'string' }, 'expires-at': { type: 'string' } },
  arguments: [],
  async run(values) {
    const organizationId = parseId('--org', required(values, 'org'));
    const key_mode = parseOption('mode', required(values, 'mode'), modeOption);
    const scopes = typeof values['scopes'] === 'string' ? parseOption('scopes', values['scopes'], scopesOption) : [...scope.options];
    const expiry = typeof values['expires-at'] === 'string' ? parseOption('expires-at', values['expires-at'], expiryOption) : undefined;
    if (expiry !== undefined && expiry <= new Date().toISOString()) throw new UsageError('--expires-at must lie in the future');
    return withConnection(async (connection) => {
      const issued = await createApiKey(connection, organizationId, { key_mode, scopes, ...(expiry === undefined ? {} : { expires_at: expiry }) });
      return show(connection, issued);
    });
  },
};

/** `admin key rotate`: the old secret is dead when this returns (D62). */
export const keyRotate: Command = {
  name: 'key rotate',
  usage: 'KEY_ID',
  summary: 'Gives a key a new secret; the old one stops working at once.',
  options: {},
  arguments: ['KEY_ID'],
  run: (_values, [apiKeyId]) =>
    withKey(parseId('KEY_ID', apiKeyId), async (connection, organizationId, key) => show(connection, await rotateApiKey(connection, organizationId, key.api_key_id, key.key_mode))),
};

/** `admin key revoke`: the key is dead when this returns (D62). */
export const keyRevoke: Command = {
  name: 'key revoke',
  usage: 'KEY_ID',
  summary: 'Revokes a key for good.',
  options: {},
  arguments: ['KEY_ID'],
  run: (_values, [apiKeyId]) =>
    withKey(parseId('KEY_ID', apiKeyId), async (connection, organizationId, key) => {
      const position = await revokeApiKey(connection, organizationId, key.api_key_id);
      if (position !== undefined) requireApplied(await waitUntilApplied(connection.nc, position));
      return { api_key_id: key.api_key_id, revoked: true };
    }),
};

async function withKey<T>(apiKeyId: string, work: (connection: Connection, organizationId: string, key: ApiKey) => Promise<T>): Promise<T> {
  return withConnection(async (connection) => {
    const organizationId = await withAccounts(connection, async (accounts) => accounts.organizationOf(apiKeyId));
    if (organizationId === undefined) throw new DomainError('not_found', `there is no API key ${apiKeyId}`);
    const { state } = await loadState(connection.store, accountDecider, { kind: 'account', id: organizationId });
    const key = state.kind === 'live' ? state.keys.get(apiKeyId) : undefined;
    if (!key) throw new DomainError('not_found', `there is no API key ${apiKeyId}`);
    return work(connection, organizationId, key);
  });
}

async function show(connection: Connection, issued: IssuedKey): Promise<{ readonly api_key_id: string; readonly secret: string }> {
  const missing = await waitUntilApplied(connection.nc, issued.position);
  // The secret exists nowhere else, so it is printed whatever the other processes say.
  if (missing.length > 0) process.stderr.write(`admin: the key is stored, but these processes have not confirmed it yet: ${missing.join(', ')}\n`);
  return { api_key_id: issued.api_key_id, secret: issued.secret };
}
