import type { KeyObject } from 'node:crypto';
import { Defect, DomainError } from '../errors/errors.ts';
import { isId } from '../ids/ids.ts';

/** Whose data a key seals. */
export type DataKeyName = `job.${string}` | `job-fetch.${string}` | `org.${string}` | `webhook.${string}`;

/** Name of the key of what a client typed into one job (D88). Throws `Defect` on an id that is not ours. */
export function jobKeyName(jobId: string): DataKeyName {
  return `job.${checkId(jobId)}`;
}

/** Name of the key of what the file of one job is fetched with; it lives until the fetch is over (D83). Throws `Defect` as above. */
export function fetchKeyName(jobId: string): DataKeyName {
  return `job-fetch.${checkId(jobId)}`;
}

/** Name of the key of what belongs to an organization as a whole. Throws `Defect` on an id that is not ours. */
export function organizationKeyName(organizationId: string): DataKeyName {
  return `org.${checkId(organizationId)}`;
}

/** Name of the key of one webhook endpoint, its history included; it is destroyed with the endpoint (D57). Throws `Defect` as above. */
export function webhookKeyName(webhookId: string): DataKeyName {
  return `webhook.${checkId(webhookId)}`;
}

/**
 * Keys of 32 bytes that seal fields of events. The log is for ever; what is sealed in it is forgotten by destroying its
 * key (D88). Methods throw `TransientError` (`nats`) when the keys cannot be reached and `ConfigurationError` when they
 * were wrapped under another master key.
 */
export interface DataKeys {
  /**
   * The key of that name, made when there was never one, so the same command sent twice gets the same key. Throws
   * `DataKeyDestroyedError` when it was destroyed: what is forgotten stays forgotten.
   */
  create(name: DataKeyName): Promise<KeyObject>;

  /**
   * The key; undefined when it was destroyed or never made. A process that used the key lately may answer it for
   * `DATA_KEY_CACHE_MS` after another process destroyed it.
   */
  get(name: DataKeyName): Promise<KeyObject | undefined>;

  /** Destroys the key and answers when that is durable. Does nothing when it is destroyed already. */
  destroy(name: DataKeyName): Promise<void>;
}

/** A key that was destroyed cannot be made again. */
export class DataKeyDestroyedError extends DomainError<'data_key_destroyed'> {
  constructor() {
    super('data_key_destroyed', 'The key was destroyed and is never made again.');
  }
}

function checkId(id: string): string {
  if (!isId(id)) throw new Defect('a data key is named by one of our UUIDs');
  return id;
}
