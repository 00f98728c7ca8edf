import { createSecretKey, randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import Koa from 'koa';
import { startServer } from '../../../services/api/http/server.ts';
import type { ApiState } from '../../../services/api/http/context.ts';
import { AddressFailures } from '../../../services/api/limits/address-failures.ts';
import { Counters } from '../../../services/api/limits/counters.ts';
import { KeyBudgets } from '../../../services/api/limits/key-budgets.ts';
import { spendBudget } from '../../../services/api/middleware/spend-budget.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { ensureStream } from '../../../streams/ensure-stream.ts';
import { rate } from '../../../streams/rate.ts';
import { expectFailure } from '../../support/expect-failure.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const logger = createLogger('test', 'silent');
const MINUTE_MS = 60_000;
/** Other processes must know within a second who is shut out. */
const TOLD_MS_MAX = 1_000;
const LIMITS = { createFree: 3, createActive: 12, other: 30 };

describe('Counting requests and failures', function () {
  this.timeout(60_000);
  let server: TestNats;
  let connections: NatsConnection[];
  let nowMs: number;
  const clock = { nowMs: (): number => nowMs };
  const nameKey = createSecretKey(randomBytes(32));

  beforeEach(async () => {
    nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 20_000;
    server = await startNats();
    connections = await Promise.all(['one', 'two'].map((name) => connectNats({ url: server.url, name, logger })));
  });
  afterEach(async () => {
    await Promise.all(connections.map((nc) => nc.close()));
    await server.stop();
  });

  const counters = (): Counters[] => connections.map((nc) => new Counters(nc, () => ensureStream(nc, rate, 1)));
  const budgets = (): KeyBudgets[] => counters().map((each) => new KeyBudgets(each, LIMITS, clock));
  const failures = (): Promise<AddressFailures[]> => Promise.all(connections.map(async (nc, index) => AddressFailures.start(nc, counters()[index] ?? missing(), { limit: 5, key: nameKey, clock, logger })));

  it('gives each request of a budget a number of its own, in however many processes (§8 rate limits 1)', async () => {
    const both = budgets();
    const caller = key('active');
    const spent = await inParallel(80, 16, (index) => (both[index % 2] ?? missing()).spend(caller, 'other'));
    const within = spent.filter(({ isWithin }) => isWithin);
    expect(within.map(({ remaining }) => remaining).toSorted((one, other) => one - other)).to.deep.equal(Array.from({ length: 30 }, (_none, index) => index));
    for (const { isWithin, remaining, limit, resetSeconds } of spent) {
      expect([limit, resetSeconds]).to.deep.equal([30, (nowMs + 40_000) / 1000]);
      if (!isWithin) expect(remaining).to.equal(0);
    }
  });

  it('keeps budgets, keys and minutes apart, and takes the plan as it is at the time (§8 rate limits 1)', async () => {
    const [first = missing()] = budgets();
    const free = key('free');
    const spend = async (caller: KeyContext, times: number): Promise<boolean[]> => (await inParallel(times, 1, () => first.spend(caller, 'create'))).map(({ isWithin }) => isWithin);
    expect(await spend(free, 4)).to.deep.equal([true, true, true, false]);
    expect((await first.spend(free, 'other')).remaining).to.equal(29);
    expect(await spend(key('free'), 1)).to.deep.equal([true]);
    expect(await spend({ ...free, plan: 'active' }, 1)).to.deep.equal([true]);
    nowMs += MINUTE_MS;
    expect(await spend(free, 1)).to.deep.equal([true]);
  });

  it('makes its stream anew when a restart of the server has lost it, and begins at 0', async () => {
    const [first = missing()] = budgets();
    const caller = key('active');
    await first.spend(caller, 'other');
    await server.restart();
    const [, again = missing()] = budgets();
    const { remaining } = await waitFor('the connection coming back', 10_000, async () => again.spend(caller, 'other').catch(() => undefined));
    expect(remaining).to.equal(29);
  });

  it('says that nothing can be counted when the server is away (D4)', async () => {
    const [first = missing()] = budgets();
    await server.kill();
    await expectFailure(first.spend(key('active'), 'other'), TransientError);
    expect((await first.look(key('active'), 'other')).remaining).to.equal(30);
  });

  it('tells an answer that was held how the budget stands when it goes out (D34)', async () => {
    const [first = missing()] = budgets();
    const app = new Koa<ApiState>();
    app.use(async (ctx, next) => {
      Object.assign(ctx.state, { key: key('active'), match: { kind: 'none' } });
      await next();
    });
    app.use(spendBudget(first, clock));
    app.use((ctx) => {
      nowMs += MINUTE_MS;
      ctx.body = 'late';
    });
    const http = await startServer(app, { port: 0, headers: {}, connections: { perAddressMax: 10, isExempt: () => false } });
    const { headers } = await fetch(`http://127.0.0.1:${http.port}/`);
    await http.stop(0);
    expect(headers.get('x-ratelimit-reset')).to.equal(String((nowMs + 40_000) / 1000));
    expect(headers.get('x-ratelimit-remaining')).to.equal('30');
  });

  it('shuts an address out everywhere once it has failed too often, and exactly then (§8 rate limits 5, D61)', async () => {
    const both = await failures();
    const [first = missing(), second = missing()] = both;
    await second.requireAllowed('192.0.2.1');
    const outcomes = await inParallel(20, 10, async (index) => (both[index % 2] ?? missing()).add('192.0.2.1').then(() => 'counted', codeOf));
    expect(outcomes.filter((outcome) => outcome === 'counted')).to.have.length(5);
    expect(outcomes.filter((outcome) => outcome === 'rate_limited')).to.have.length(15);
    for (const each of both) await waitFor('everybody knowing it', TOLD_MS_MAX, async () => (await each.requireAllowed('192.0.2.1').catch(codeOf)) === 'rate_limited' || undefined);
    await first.requireAllowed('192.0.2.2');
    nowMs += MINUTE_MS;
    for (const each of both) await each.requireAllowed('192.0.2.1');
    for (const each of both) each.stop();
  });

  it('asks for an address that it has not heard of, and for all of them after it was cut off (§8 rate limits 5)', async () => {
    const [first = missing()] = await failures();
    for (let time = 0; time < 5; time += 1) await first.add('192.0.2.1');
    const [, late = missing()] = await failures();
    expect(await late.requireAllowed('192.0.2.1').catch(codeOf)).to.equal('rate_limited');
    await server.restart();
    await waitFor('both having forgotten with the server', 10_000, async () => (await late.requireAllowed('192.0.2.1').then(() => true, () => undefined)));
    first.stop();
    late.stop();
  });
});

let keys = 0;

function key(plan: 'free' | 'active'): KeyContext {
  keys += 1;
  return { api_key_id: `key-${keys}`, organization_id: 'organization', key_mode: 'live', scopes: [], plan };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error;
}

function missing(): never {
  throw new Error('there are two of everything');
}
