import type { NatsConnection } from '@nats-io/transport-node';
import { IdempotencyBucket } from '../../services/api/idempotency/bucket.ts';
import type { Entry } from '../../services/api/idempotency/entry.ts';
import { keyedRequest, type KeyedRequest } from '../../services/api/idempotency/keyed-request.ts';
import { isoTime } from '../../shared/clock/clock.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import type { TestService } from './service.ts';

const DAY_MS = 86_400_000;

/** The notes of requests as an api keeps them, so that a test can leave one behind as a killed api would. */
export class IdempotencyNotes {
  readonly #service: TestService;
  readonly #bucket: IdempotencyBucket;

  private constructor(service: TestService, bucket: IdempotencyBucket) {
    this.#service = service;
    this.#bucket = bucket;
  }

  static async open(service: TestService, nc: NatsConnection): Promise<IdempotencyNotes> {
    return new IdempotencyNotes(service, await IdempotencyBucket.open(nc, DAY_MS));
  }

  /** What an api derives from such a request. */
  request(apiKeyId: string, headerValue: string, body: Readonly<Record<string, unknown>>): KeyedRequest {
    return keyedRequest(openMasterKey(this.#service.addresses.masterKey), apiKeyId, headerValue, body);
  }

  /** Writes that a request runs; its lease ends in `leaseMs`. */
  async leaveRunning({ place, mark }: KeyedRequest, jobId: string, leaseMs: number): Promise<void> {
    const { revision } = await this.#bucket.read(place);
    const entry = { state: 'running', fingerprint: mark.fingerprint, job_id: jobId, lease_until: isoTime(Date.now() + leaseMs) } as const;
    if ((await this.#bucket.write(place, revision, entry)) === undefined) throw new Error('a note was changed by somebody else');
  }

  async find({ place }: KeyedRequest): Promise<Entry | undefined> {
    return (await this.#bucket.read(place)).entry;
  }
}
