import { aggregateStream } from './aggregate-stream.ts';

/** Organizations, their plans and their API keys. */
export const accounts = aggregateStream('account', 'operator', 'Organizations, plans and API keys');
