import { expect } from 'chai';
import fc from 'fast-check';
import { Defect } from '../../shared/errors/errors.ts';
import { decode, encode, hashOf, type AggregateRef, type Origin, type StoredEvent } from '../../shared/events/envelope.ts';
import { AGGREGATE_KINDS, type DomainEvent } from '../../shared/events/registry.ts';
import { checkChain, decodeMessage } from '../../shared/store/stored-message.ts';
import { eventSubject } from '../../shared/store/subjects.ts';
import { granted } from '../support/events.ts';

const ID = '0190a000-0000-7000-8000-000000000001';
const CREDITS: AggregateRef = { kind: 'credits', id: ID };
const ORIGIN: Origin = { commandId: ID, correlationId: ID, causationId: ID, actor: 'operator', tenant: ID, service: 'ledger', nowMs: 0 };

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const amount = fc.integer({ min: 1, max: 1_000_000_000 });
const time = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms).toISOString());
const result = fc.record({ size_bytes: fc.integer({ min: 0, max: 2 ** 40 }), sha256: hex(64), etag: hex(32) });
const usage = { billable_ms: fc.integer({ min: 0, max: 2 ** 40 }), speed_factor: fc.integer({ min: 1, max: 100 }), weight: fc.integer({ min: 1, max: 100 }) };

/** Events with nested, optional and listed fields among them. */
const anyEvent: fc.Arbitrary<DomainEvent> = fc.oneof(
  fc.record({ type: fc.constant('credits.granted' as const), data: fc.record({ amount, reason: fc.stringMatching(/^v1\.[\w-]{1,40}\.[\w-]{1,400}$/) }, { requiredKeys: ['amount'] }) }),
  fc.record({ type: fc.constant('credits.charged' as const), data: fc.record({ job_id: fc.uuid(), amount, held: amount, ...usage }) }),
  fc.record({ type: fc.constant('job.finished' as const), data: fc.record({ attempt: fc.integer({ min: 1, max: 100 }), result, ...usage, credits_charged: fc.nat(1_000_000_000), expires_at: time }) }),
  fc.record({
    type: fc.constant('job.failed' as const),
    data: fc.record({ attempt: fc.integer({ min: 1, max: 100 }), error: fc.record({ code: fc.constant('internal' as const), max_bytes: fc.nat() }, { requiredKeys: ['code'] }) }, { requiredKeys: ['error'] }),
  }),
  fc.record({
    type: fc.constant('account.api_key_created' as const),
    data: fc.record(
      { api_key_id: fc.uuid(), key_mode: fc.constantFrom('live' as const, 'test' as const), scopes: fc.subarray(['job.read', 'job.write'] as ('job.read' | 'job.write')[], { minLength: 1 }), secret_sha256: hex(64), expires_at: time },
      { requiredKeys: ['api_key_id', 'key_mode', 'scopes', 'secret_sha256'] },
    ),
  }),
  fc.record({
    type: fc.constant('delivery.queued' as const),
    data: fc.record({
      webhook_id: fc.uuid(), event_id: fc.uuid(), event: fc.constantFrom('job.created' as const, 'job.finished' as const), activation: fc.integer({ min: 1 }), key_mode: fc.constant('live' as const),
      source: fc.oneof(fc.record({ kind: fc.constant('test' as const), requested_at: time, api_key_id: fc.uuid() }), fc.record({ kind: fc.constant('job' as const), job_id: fc.uuid(), position: fc.integer({ min: 1 }), version: fc.integer({ min: 1 }) })),
    }),
  }),
);

describe('the envelope of an event', () => {
  it('brings back every event that was put into it', () => {
    fc.assert(
      fc.property(anyEvent, fc.integer({ min: 1, max: 1000 }), fc.option(hex(64), { nil: undefined }), (event, version, prevhash) => {
        const aggregate = { kind: kindOf(event), id: ID };
        const bytes = encode(aggregate, version, event, ORIGIN, prevhash);
        const stored = decode(aggregate, 42, bytes);
        expect(stored.event).to.deep.equal(event);
        expect(stored).to.include({ version, position: 42, sizeBytes: bytes.byteLength, hash: hashOf(bytes) });
        expect(stored.envelope).to.include({ id: ID, time: '1970-01-01T00:00:00.000Z', tenant: ID, actor: 'operator' });
        expect(stored.envelope.prevhash).to.equal(prevhash);
      }),
    );
  });

  it('takes nothing that fits no schema', () => {
    expect(() => encode(CREDITS, 1, granted(0), ORIGIN)).to.throw(Defect);
    expect(() => encode(CREDITS, 0, granted(1), ORIGIN)).to.throw(Defect);
    expect(() => encode(CREDITS, 1, granted(1), { ...ORIGIN, commandId: 'x' })).to.throw(Defect);
  });

  it('refuses bytes that are no event', () => {
    for (const text of ['', '{', 'null', '[]', '{}', '{"specversion":"1.0"}']) expect(() => decode(CREDITS, 1, Buffer.from(text))).to.throw(Defect);
  });

  it('refuses an event on the subject of another aggregate, version or type', () => {
    const bytes = encode(CREDITS, 2, granted(1), ORIGIN, 'a'.repeat(64));
    const right = eventSubject(CREDITS, 2, 'credits.granted');
    expect(decodeMessage(right, 1, bytes).event).to.deep.equal(granted(1));
    const wrong = [eventSubject(CREDITS, 1, 'credits.granted'), eventSubject(CREDITS, 2, 'credits.held'), eventSubject({ ...CREDITS, kind: 'job' }, 2, 'job.created'), right.replace(ID, ID.replace('1', '2')), 'credits', 'rate.x'];
    for (const subject of wrong) expect(() => decodeMessage(subject, 1, bytes), subject).to.throw(Defect);
  });
});

describe('the hash chain of an aggregate', () => {
  const chain = fc.array(amount, { minLength: 2, maxLength: 12 }).map((amounts) => {
    const events: StoredEvent[] = [];
    for (const [index, each] of amounts.entries()) events.push(decode(CREDITS, index + 1, encode(CREDITS, index + 1, granted(each), ORIGIN, events.at(-1)?.hash)));
    return events;
  });

  it('is whole when every event names the hash of the one before it', () => {
    fc.assert(fc.property(chain, (events) => checkChain(events)));
  });

  it('shows an event that was changed, left out or put elsewhere', () => {
    fc.assert(
      fc.property(chain, fc.nat(), (events, seed) => {
        const at = seed % (events.length - 1);
        const [here, next] = [events[at], events[at + 1]];
        if (!here || !next) throw new Error('the chain is shorter than it is');
        const changed = decode(CREDITS, here.position, encode(CREDITS, here.version, granted(here.event.type === 'credits.granted' && here.event.data.amount === 7 ? 8 : 7), ORIGIN, here.envelope.prevhash));
        expect(() => checkChain(events.with(at, changed))).to.throw(Defect);
        expect(() => checkChain(events.toSpliced(at, 1))).to.throw(Defect);
        expect(() => checkChain(events.with(at, next).with(at + 1, here))).to.throw(Defect);
      }),
    );
  });
});

function kindOf(event: DomainEvent): AggregateRef['kind'] {
  return AGGREGATE_KINDS.find((kind) => event.type.startsWith(`${kind}.`)) ?? 'job';
}
