import { aggregateStream } from './aggregate-stream.ts';

/** Organizations, their plans, API keys and webhook endpoints. */
export const accounts = aggregateStream('account', 'operator', 'Organizations, plans, API keys and webhook endpoints');
