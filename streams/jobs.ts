import { aggregateStream } from './aggregate-stream.ts';

/** The life of every job; importer and converter append too, when they own the next step. */
export const jobs = aggregateStream('job', 'api', 'Life of every job');
