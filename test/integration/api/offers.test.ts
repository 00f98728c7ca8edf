import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from 'chai';
import { OffersWatch } from '../../../services/api/offers/offers-watch.ts';
import { announceTools } from '../../../services/converter/announce.ts';
import { waitFor } from '../../../services/standalone/processes.ts';
import { systemClock } from '../../../shared/clock/clock.ts';
import { ENGINES_BUCKET } from '../../../shared/converters/announcement.ts';
import { listPairs, type Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { TOOL_NAMES, type ToolName } from '../../../shared/domain/catalogue/tools.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { createLogger } from '../../../shared/log/log.ts';
import { connectNats } from '../../../shared/nats/connect.ts';
import { applyStreams } from '../../../streams/apply.ts';
import { startNats, type TestNats } from '../../support/servers.ts';

const HEARD_LIMIT_MS = 20_000;
/** A watch that a restarted server forgot is noticed by two missing heartbeats, of 5 s each. */
const BACK_LIMIT_MS = 60_000;
const logger = createLogger('test', 'silent');

describe('the conversions on offer (§4.1 GET /operations)', function () {
  this.timeout(120_000);
  let nats: TestNats;
  let nc: NatsConnection;
  const stops: (() => void)[] = [];

  beforeEach(async () => {
    nats = await startNats();
    nc = await connectNats({ url: nats.url, name: 'test', logger });
    await applyStreams(nc, { replicas: 1, log: () => undefined });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) stop();
    await nc.close();
    await nats.stop();
  });

  async function watch(): Promise<OffersWatch> {
    const offers = await OffersWatch.start(nc, logger);
    stops.push(() => offers.stop());
    return offers;
  }

  async function announce(...tools: readonly ToolName[]): Promise<{ readonly stop: () => void }> {
    const announcing = await announceTools(nc, new Map(tools.map((tool) => [tool, '1.0'])), systemClock, logger);
    stops.push(() => announcing.stop());
    return announcing;
  }

  it('are unknown until a converter has said what it can do, and then those that it has the tools for', async () => {
    const offers = await watch();
    expect(offers.isKnown()).to.equal(false);
    expect(() => offers.pairs()).to.throw(TransientError).with.property('dependency', 'converter');
    await announce('sharp');
    await untilOffered(offers, pairsOf('sharp'));
    expect(offers.pairs()).to.deep.equal(pairsOf('sharp'));
    for (const pair of listPairs()) expect(offers.includes(pair)).to.equal(pair.tools.every((tool) => tool === 'sharp'));
  });

  it('are those of all converters together, and stay when all have gone and the api begins anew', async () => {
    const [one, other] = [await announce('sharp'), await announce(...TOOL_NAMES)];
    await untilOffered(await watch(), listPairs());
    one.stop();
    other.stop();
    await untilOffered(await watch(), listPairs());
  });

  it('change with what a converter says after the server was restarted', async () => {
    const offers = await watch();
    await announce();
    await waitFor('the first word', HEARD_LIMIT_MS, () => offers.isKnown() || undefined);
    expect(offers.pairs()).to.deep.equal([]);
    await nats.restart();
    // Its first word may be lost with the connection; it says it again.
    await announce('sharp');
    await untilOffered(offers, pairsOf('sharp'), BACK_LIMIT_MS);
  });

  it('are not changed by what is no announcement', async () => {
    const offers = await watch();
    await announce('sharp');
    await untilOffered(offers, pairsOf('sharp'));
    const bucket = await new Kvm(nc).open(ENGINES_BUCKET);
    await bucket.put('stranger', 'not JSON');
    await bucket.put('stranger', JSON.stringify({ tools: { 'rm -rf': 'now' } }));
    await bucket.put('later-release', JSON.stringify({ tools: { sharp: '1.0', 'a-tool-of-tomorrow': '1.0' }, announced_at: '2026-11-21T09:30:00.000Z', more: true }));
    await waitFor('the last of them', HEARD_LIMIT_MS, async () => ((await bucket.get('later-release')) ? true : undefined));
    expect(offers.pairs()).to.deep.equal(pairsOf('sharp'));
  });
});

function untilOffered(offers: OffersWatch, wanted: readonly Pair[], limitMs = HEARD_LIMIT_MS): Promise<unknown> {
  return waitFor('the conversions on offer', limitMs, () => (offers.isKnown() && offers.pairs().length === wanted.length ? true : undefined));
}

function pairsOf(...tools: readonly ToolName[]): readonly Pair[] {
  return listPairs().filter((pair) => pair.tools.every((tool) => tools.includes(tool)));
}
