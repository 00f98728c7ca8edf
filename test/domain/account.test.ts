import { expect } from 'chai';
import { accountDecider, type AccountCommand } from '../../shared/domain/account.ts';
import { fold } from '../../shared/domain/decider.ts';
import type { AccountEvent } from '../../shared/events/registry.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { specify } from '../support/decider-spec.ts';
import { accountCreated, webhookCreated } from '../support/webhook-events.ts';

const given = specify(accountDecider);
const api_key_id = deriveId('key', 1);
const HASH = 'a'.repeat(64);
const OTHER_HASH = 'b'.repeat(64);

const keyCreated: AccountEvent = { type: 'account.api_key_created', data: { api_key_id, key_mode: 'live', scopes: ['job.read'], secret_sha256: HASH } };
const keyRotated: AccountEvent = { type: 'account.api_key_rotated', data: { api_key_id, secret_sha256: OTHER_HASH } };
const keyRevoked: AccountEvent = { type: 'account.api_key_revoked', data: { api_key_id } };

const create: AccountCommand = { type: 'create', data: accountCreated.data };
const createKey: AccountCommand = { type: 'create_api_key', data: { api_key_id, key_mode: 'live', scopes: ['job.read'], secret_sha256: HASH } };
const rotateKey: AccountCommand = { type: 'rotate_api_key', data: { api_key_id, secret_sha256: OTHER_HASH } };
const revokeKey: AccountCommand = { type: 'revoke_api_key', api_key_id };

describe('the account of an organization', () => {
  it('is created once, and nothing happens to it before', () => {
    given([]).when(create).thenDecides(accountCreated);
    given([accountCreated]).when(create).thenRefused('already_exists');
    for (const command of [{ type: 'change_plan', plan: 'active' } as const, createKey, rotateKey, revokeKey]) given([]).when(command).thenRefused('not_found');
  });

  it('changes its plan to another', () => {
    given([accountCreated]).when({ type: 'change_plan', plan: 'active' }).thenDecides({ type: 'account.plan_changed', data: { plan: 'active' } });
    given([accountCreated]).when({ type: 'change_plan', plan: 'free' }).thenDecides(null);
    given([accountCreated, { type: 'account.plan_changed', data: { plan: 'active' } }]).when({ type: 'change_plan', plan: 'active' }).thenDecides(null);
  });

  it('gets API keys, each once', () => {
    given([accountCreated]).when(createKey).thenDecides(keyCreated);
    given([accountCreated, keyCreated]).when(createKey).thenRefused('already_exists');
  });

  it('gives a key another secret under the same id, but none that is revoked (D11)', () => {
    given([accountCreated, keyCreated]).when(rotateKey).thenDecides(keyRotated);
    given([accountCreated, keyCreated, keyRevoked]).when(rotateKey).thenRefused('revoked');
    given([accountCreated]).when(rotateKey).thenRefused('not_found');
    const state = fold(accountDecider, [accountCreated, keyCreated, keyRotated]);
    expect(state.kind === 'live' && state.keys.get(api_key_id)).to.include({ secret_sha256: OTHER_HASH, revoked: false });
  });

  it('revokes a key once and for good', () => {
    given([accountCreated, keyCreated]).when(revokeKey).thenDecides(keyRevoked);
    given([accountCreated, keyCreated, keyRevoked]).when(revokeKey).thenDecides(null);
    given([accountCreated]).when(revokeKey).thenRefused('not_found');
  });

  it('counts its events, and is nothing without its creation', () => {
    expect(fold(accountDecider, [accountCreated, keyCreated, keyRotated, webhookCreated(), keyRevoked])).to.include({ kind: 'live', version: 5 });
    expect(fold(accountDecider, [keyCreated, webhookCreated()])).to.deep.equal({ kind: 'none' });
  });
});
