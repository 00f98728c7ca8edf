import type { NatsConnection } from '@nats-io/transport-node';
import { systemClock } from '../../../shared/clock/clock.ts';
import type { Logger } from '../../../shared/log/log.ts';
import type { MasterKey } from '../../../shared/privacy/master-key.ts';
import { ensureStream } from '../../../streams/ensure-stream.ts';
import { rate } from '../../../streams/rate.ts';
import { AddressFailures } from './address-failures.ts';
import { Counters } from './counters.ts';
import { KeyBudgets, type BudgetLimits } from './key-budgets.ts';

/** How much is allowed in a minute, and how many copies of the counters there are. */
export type LimitOptions = { readonly budgets: BudgetLimits; readonly failures: number; readonly replicas: number };

/** What counts requests and failures in this process. */
export type Limits = { readonly keyBudgets: KeyBudgets; readonly addressFailures: AddressFailures; readonly stop: () => void };

/** Opens the counters that all api processes share (§8 rate limits). Throws what the client throws when NATS is away. */
export async function openLimits(nc: NatsConnection, options: LimitOptions, masterKey: MasterKey, logger: Logger): Promise<Limits> {
  const clock = systemClock;
  const counters = new Counters(nc, async () => {
    await ensureStream(nc, rate, options.replicas);
    logger.warn('the rate counters were lost and start again at 0');
  });
  const addressFailures = await AddressFailures.start(nc, counters, { limit: options.failures, key: masterKey.derive('addresses'), clock, logger });
  return { keyBudgets: new KeyBudgets(counters, options.budgets, clock), addressFailures, stop: () => addressFailures.stop() };
}
