import type { NatsConnection } from '@nats-io/transport-node';
import type { ConverterContext } from '../context.ts';

/** What simulated conversions work with: no sandbox and no engine. */
export type SimulationContext = Pick<ConverterContext, 'store' | 'objects' | 'dataKeys' | 'clock' | 'logger' | 'resultTtlMs' | 'resultBytesMax' | 'speedFactor'> & {
  /** Sets the timers of `test:delay`. */
  readonly nc: NatsConnection;
};
