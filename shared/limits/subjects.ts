/** The stream of the counters. */
export const RATE_STREAM = 'RATE';

/** Everything that is counted. */
export const RATE_SUBJECTS = 'rate.>';

/** Failures of all addresses. */
export const FAILURES_FILTER = 'rate.failures.>';

/** Where the requests of one key on one of its budgets are counted; a counter belongs to one minute. */
export function requestsSubject(minute: number, budget: string, apiKeyId: string): string {
  return `rate.requests.${minute}.${budget}.${apiKeyId}`;
}

/** Where the failures of one address are counted, by the name that stands for it. */
export function failuresSubject(minute: number, addressName: string): string {
  return `rate.failures.${minute}.${addressName}`;
}
