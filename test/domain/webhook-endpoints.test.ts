import { expect } from 'chai';
import fc from 'fast-check';
import { accountDecider, type AccountCommand, type AccountState } from '../../shared/domain/account.ts';
import { fold } from '../../shared/domain/decider.ts';
import { ACCOUNT_EVENTS_MAX, WEBHOOK_ENDPOINTS_MAX, WEBHOOK_EVENTS } from '../../shared/domain/webhooks.ts';
import { DomainError } from '../../shared/errors/errors.ts';
import { accountWebhookCreatedV1 } from '../../shared/events/webhook.ts';
import type { AccountEvent } from '../../shared/events/registry.ts';
import { deriveId } from '../../shared/ids/ids.ts';
import { deliveryIdOf, replayDeliveryId, webhookEventId, wireEventId } from '../../shared/webhooks/ids.ts';
import { newWebhookSecret } from '../../shared/webhooks/secret.ts';
import { specify } from '../support/decider-spec.ts';
import { accountCreated, at, secretRotated, WEBHOOK_ID, webhookCreated, webhookDeleted, webhookDisabled, webhookEnabled } from '../support/webhook-events.ts';

const given = specify(accountDecider);
const created = webhookCreated();
const idOf = (number: number): string => deriveId('webhook', number);

const create = (number: number, key_mode: 'live' | 'test' = 'live'): AccountCommand => ({ type: 'create_webhook', data: webhookCreated({ webhook_id: idOf(number), key_mode }).data });
const remove = (webhook_id = WEBHOOK_ID): AccountCommand => ({ type: 'delete_webhook', webhook_id });
const disable = (activation?: number): AccountCommand => ({ type: 'disable_webhook', data: webhookDisabled().data, ...(activation === undefined ? {} : { activation }) });
const enable: AccountCommand = { type: 'enable_webhook', data: webhookEnabled(30).data };
const rotate: AccountCommand = { type: 'rotate_webhook_secret', data: secretRotated(2, at(0)).data };

/** An account with so many endpoints, every other one of test jobs. */
const withEndpoints = (count: number): AccountEvent[] => [
  accountCreated,
  ...Array.from({ length: count }, (_, index) => webhookCreated({ webhook_id: idOf(index + 1), key_mode: index % 2 === 0 ? 'live' : 'test' })),
];
const isTaken = (events: readonly string[]): boolean => accountWebhookCreatedV1.safeParse({ ...created.data, events }).success;
const webhookAfter = (events: readonly AccountEvent[]): unknown => {
  const state = fold(accountDecider, events);
  return state.kind === 'live' ? state.webhooks.get(WEBHOOK_ID) : undefined;
};

describe('webhook endpoints of an organization', () => {
  it('are created for an organization that is there, each once', () => {
    given([accountCreated]).when(create(1)).thenDecides(created);
    given([]).when(create(1)).thenRefused('not_found');
    given([accountCreated, created]).when(create(1)).thenRefused('already_exists');
  });

  it('are at most twenty, those of both modes together; one that is deleted makes place (§8 webhook endpoints per organization, D53)', () => {
    expect(WEBHOOK_ENDPOINTS_MAX).to.equal(20);
    given(withEndpoints(19)).when(create(20)).thenDecides(webhookCreated({ webhook_id: idOf(20) }));
    for (const mode of ['live', 'test'] as const) given(withEndpoints(20)).when(create(21, mode)).thenRefused('too_many_endpoints', { limit: 20 });
    given([...withEndpoints(20), webhookDisabled()]).when(create(21)).thenRefused('too_many_endpoints');
    given([...withEndpoints(20), webhookDeleted()]).when(create(21)).thenDecides(webhookCreated({ webhook_id: idOf(21) }));
  });

  it('are not created any more in an account that has more events than can be loaded for long; everything else goes on', () => {
    const few = fold(accountDecider, [accountCreated, created]);
    if (few.kind !== 'live') throw new Error('there is no account');
    const state = { ...few, version: ACCOUNT_EVENTS_MAX };
    expect(() => accountDecider.decide(create(2), state)).to.throw(DomainError).with.property('code', 'too_many_endpoint_changes');
    expect(accountDecider.decide(create(2), { ...state, version: ACCOUNT_EVENTS_MAX - 1 })).to.deep.equal(webhookCreated({ webhook_id: idOf(2) }));
    expect(accountDecider.decide(remove(), state)).to.deep.equal(webhookDeleted());
  });

  it('are deleted once, and not by a key of the other mode (D53)', () => {
    given([accountCreated, created]).when(remove()).thenDecides(webhookDeleted());
    given([accountCreated, created]).when({ type: 'delete_webhook', webhook_id: WEBHOOK_ID, key_mode: 'live' }).thenDecides(webhookDeleted());
    given([accountCreated, created]).when({ type: 'delete_webhook', webhook_id: WEBHOOK_ID, key_mode: 'test' }).thenRefused('not_found');
    given([accountCreated, created, webhookDeleted()]).when(remove()).thenRefused('not_found');
    given([accountCreated]).when(remove()).thenRefused('not_found');
  });

  it('are disabled once, and keep the first reason (§6 delivery 3)', () => {
    given([accountCreated, created]).when(disable()).thenDecides(webhookDisabled());
    given([accountCreated, created, webhookDisabled('failing_5_days')]).when(disable()).thenDecides(null);
    given([accountCreated]).when(disable()).thenRefused('not_found');
  });

  it('are not disabled for what was found before they were enabled again', () => {
    given([accountCreated, created]).when(disable(2)).thenDecides(webhookDisabled());
    given([accountCreated, created, webhookDisabled(), webhookEnabled(9)]).when(disable(2)).thenDecides(null);
    given([accountCreated, created, webhookDisabled(), webhookEnabled(9)]).when(disable(4)).thenDecides(webhookDisabled());
  });

  it('are enabled again, with what happens from then on', () => {
    given([accountCreated, created, webhookDisabled()]).when(enable).thenDecides(webhookEnabled(30));
    given([accountCreated, created]).when(enable).thenDecides(null);
    given([accountCreated, created, webhookDeleted()]).when(enable).thenRefused('not_found');
    expect(webhookAfter([accountCreated, created])).to.deep.equal({ ...created.data, activation: 2 });
    expect(webhookAfter([accountCreated, created, webhookDisabled()])).to.deep.equal({ ...created.data, activation: 2, disabled_reason: 'gone_410' });
    expect(webhookAfter([accountCreated, created, webhookDisabled(), webhookEnabled(30)])).to.deep.equal({ ...created.data, activation: 4, jobs_position: 30 });
  });

  it('get a new secret, also while they are disabled; the one before stays for a while, and never a third (D68)', () => {
    given([accountCreated, created]).when(rotate).thenDecides(secretRotated(2, at(0)));
    given([accountCreated, created, webhookDisabled()]).when(rotate).thenDecides(secretRotated(2, at(0)));
    given([accountCreated]).when(rotate).thenRefused('not_found');
    const twice = [accountCreated, created, secretRotated(2, at(10)), secretRotated(3, at(20))];
    expect(webhookAfter(twice)).to.deep.equal({ ...created.data, activation: 2, secret: 'v1.c2Vj.3', previous: { secret: 'v1.c2Vj.2', until: at(20) } });
  });

  it('leave plan and keys as they are', () => {
    const key: AccountEvent = { type: 'account.api_key_created', data: { api_key_id: deriveId('key'), key_mode: 'live', scopes: ['webhook.write'], secret_sha256: 'a'.repeat(64) } };
    const before = fold(accountDecider, [accountCreated, key]);
    const after = fold(accountDecider, [accountCreated, key, created, webhookDisabled(), webhookEnabled(9), secretRotated(2, at(0)), webhookDeleted()]);
    expect(after).to.deep.equal({ ...before, version: 7 });
  });

  it('name each event once', () => {
    expect(isTaken(WEBHOOK_EVENTS)).to.equal(true);
    for (const events of [[], ['job.finished', 'job.finished'], ['job.deleted']]) expect(isTaken(events)).to.equal(false);
  });

  it('are never more than twenty and never the same twice, whatever is asked in whatever order; each activation is of its own', () => {
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 80 }), (asked) => {
        let state: AccountState = accountDecider.evolve(accountDecider.initialState, accountCreated);
        const activations = new Set<number>();
        for (const command of asked) {
          const event = decideOrRefuse(command, state);
          if (!event) continue;
          state = accountDecider.evolve(state, event);
          if (state.kind !== 'live') throw new Error('an organization does not end');
          expect(state.webhooks.size).to.be.at.most(20);
          if (event.type !== 'account.webhook_created' && event.type !== 'account.webhook_enabled') continue;
          const activation = state.webhooks.get(event.data.webhook_id)?.activation ?? 0;
          expect(activations.has(activation)).to.equal(false);
          activations.add(activation);
        }
      }),
    );
  });
});

describe('ids of webhooks', () => {
  it('follow from where the event lies and which endpoint it goes to, so that a second fan-out or a rebuild has the same (D69)', () => {
    const eventId = webhookEventId(deriveId('job'), 'job.finished', 7);
    expect(webhookEventId(deriveId('job'), 'job.finished', 7)).to.equal(eventId);
    expect(wireEventId(eventId)).to.match(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const others = [webhookEventId(deriveId('job'), 'job.failed', 7), webhookEventId(deriveId('job'), 'job.finished', 8), webhookEventId(deriveId('other'), 'job.finished', 7)];
    const deliveries = [deliveryIdOf(eventId, idOf(1)), deliveryIdOf(eventId, idOf(2)), replayDeliveryId(eventId, idOf(1), deriveId('command', 1)), replayDeliveryId(eventId, idOf(1), deriveId('command', 2))];
    expect(new Set([eventId, ...others, ...deliveries]).size).to.equal(8);
    expect(deliveryIdOf(eventId, idOf(1))).to.equal(deliveries[0]);
  });

  it('are stable: what is in the log and with receivers must be found again by every later release', () => {
    const eventId = webhookEventId('0190a000-0000-7000-8000-000000000003', 'job.finished', 44);
    expect([eventId, deliveryIdOf(eventId, '0190a000-0000-7000-8000-000000000005')]).to.deep.equal(['a1814eb6-4601-816a-b207-99c2a6af3135', '0e65ebf7-b1a8-8579-b863-bb0ad5bef401']);
  });
});

describe('a signing secret', () => {
  it('is whsec_ and 32 random bytes in base64 (§2.4, D67)', () => {
    const secrets = Array.from({ length: 100 }, newWebhookSecret);
    expect(new Set(secrets).size).to.equal(100);
    for (const secret of secrets) {
      expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).to.have.length(32);
    }
  });
});

const numbers = fc.integer({ min: 1, max: 25 });
const commands: fc.Arbitrary<AccountCommand> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(numbers, fc.constantFrom('live' as const, 'test' as const)).map(([number, mode]) => create(number, mode)) },
  numbers.map((number) => remove(idOf(number))),
  numbers.map((number): AccountCommand => ({ type: 'disable_webhook', data: webhookDisabled('gone_410', idOf(number)).data })),
  numbers.map((number): AccountCommand => ({ type: 'enable_webhook', data: webhookEnabled(1, idOf(number)).data })),
  numbers.map((number): AccountCommand => ({ type: 'rotate_webhook_secret', data: secretRotated(9, at(0), idOf(number)).data })),
);

/** The event, or undefined when there is none, or the command is refused. */
function decideOrRefuse(command: AccountCommand, state: AccountState): AccountEvent | undefined {
  try {
    return accountDecider.decide(command, state) ?? undefined;
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}
