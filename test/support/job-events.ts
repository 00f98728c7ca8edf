import type { DomainEventOf, EventData, JobEvent } from '../../shared/events/registry.ts';

/** Ids that tests need not tell apart. */
export const ORGANIZATION_ID = '0190a000-0000-7000-8000-000000000001';
export const API_KEY_ID = '0190a000-0000-7000-8000-000000000002';

/** When the jobs of these tests are created, and their deadlines by the default settings. */
export const CREATED_AT = '2026-01-01T00:00:00.000Z';
export const UPLOAD_DEADLINE_AT = '2026-01-01T02:00:00.000Z';
export const FINISHED_EXPIRES_AT = '2026-01-02T01:00:00.000Z';

export const SOURCE: EventData<'job.source_received'> = { size_bytes: 1000, sha256: 'a'.repeat(64), etag: 'b'.repeat(32) };
export const RESULT: EventData<'job.finished'>['result'] = { size_bytes: 500, sha256: 'c'.repeat(64), etag: 'd'.repeat(32) };
export const DAMAGED: EventData<'job.failed'>['error'] = { code: 'internal', reason: 'system_error', cause: 'damaged' };

/** `job.created` of a live upload job from PNG to JPEG; what matters to a test is given over. */
export function created(data: Partial<EventData<'job.created'>> = {}): DomainEventOf<'job.created'> {
  return {
    type: 'job.created',
    data: {
      organization_id: ORGANIZATION_ID,
      api_key_id: API_KEY_ID,
      key_mode: 'live',
      created_at: CREATED_AT,
      import: 'upload',
      input_format: 'png',
      output_format: 'jpg',
      weight: 1,
      credits_estimated: 1,
      upload_url_expires_at: '2026-01-01T01:00:00.000Z',
      upload_deadline_at: UPLOAD_DEADLINE_AT,
      expires_at: '2026-01-02T00:00:00.000Z',
      typed: 'v1.bm9uY2U.dGV4dA',
      ...data,
    },
  };
}

export const sourceReceived: JobEvent = { type: 'job.source_received', data: SOURCE };

/** A file of two parts of 500 bytes. */
export const PLAN: EventData<'job.multipart_started'> = { size_bytes: 1000, part_size: 500, parts_expected: 2 };
export const ASSEMBLED: EventData<'job.multipart_completed'> = { size_bytes: 1000, etag: `${'e'.repeat(32)}-2` };
export const multipartStarted: JobEvent = { type: 'job.multipart_started', data: PLAN };
export const multipartCompleted: JobEvent = { type: 'job.multipart_completed', data: ASSEMBLED };
export const multipartAborted: JobEvent = { type: 'job.multipart_aborted', data: {} };
/** The same source, received from an upload in parts. */
export const assembledReceived: JobEvent = { type: 'job.source_received', data: { ...SOURCE, etag: ASSEMBLED.etag } };

export function conversionStarted(attempt = 1): DomainEventOf<'job.conversion_started'> {
  return { type: 'job.conversion_started', data: { attempt, engine: 'image', engine_version: '1.2.3' } };
}

export function conversionInterrupted(attempt = 1): DomainEventOf<'job.conversion_interrupted'> {
  return { type: 'job.conversion_interrupted', data: { attempt } };
}

export function conversionProgressed(percent: number, attempt = 1): DomainEventOf<'job.conversion_progressed'> {
  return { type: 'job.conversion_progressed', data: { attempt, percent } };
}

export function finished(data: Partial<EventData<'job.finished'>> = {}): DomainEventOf<'job.finished'> {
  const rest = { billable_ms: 1500, speed_factor: 1, weight: 1, credits_charged: 1, expires_at: FINISHED_EXPIRES_AT };
  return { type: 'job.finished', data: { attempt: 1, result: RESULT, ...rest, ...data } };
}

export function failed(data: Partial<EventData<'job.failed'>> = {}): DomainEventOf<'job.failed'> {
  return { type: 'job.failed', data: { error: DAMAGED, ...data } };
}

export const cancelled: JobEvent = { type: 'job.cancelled', data: {} };

export function expired(reason: EventData<'job.expired'>['reason']): JobEvent {
  return { type: 'job.expired', data: { reason } };
}

export function deleted(held_credits_released: boolean): JobEvent {
  return { type: 'job.deleted', data: { held_credits_released } };
}

/** Events that lead to every situation of §3, by a name that a sentence can hold. */
export const HISTORIES = {
  nothing: [],
  waiting: [created()],
  'waiting for parts': [created(), multipartStarted],
  'waiting after its parts were assembled': [created(), multipartStarted, multipartCompleted],
  'waiting after its parts were discarded': [created(), multipartStarted, multipartAborted],
  'waiting for a URL': [created({ import: 'url' })],
  queued: [created(), sourceReceived],
  'queued with a file of parts': [created(), multipartStarted, multipartCompleted, assembledReceived],
  processing: [created(), sourceReceived, conversionStarted()],
  'processing in a second attempt': [created(), sourceReceived, conversionStarted(), conversionStarted(2)],
  'processing with a word on its progress': [created(), sourceReceived, conversionStarted(), conversionProgressed(40)],
  'processing by nobody': [created(), sourceReceived, conversionStarted(), conversionInterrupted()],
  finished: [created(), sourceReceived, conversionStarted(), finished()],
  'failed before the conversion': [created(), failed()],
  'failed in the conversion': [created(), sourceReceived, conversionStarted(), failed({ attempt: 1 })],
  'failed after its parts were assembled': [created(), multipartStarted, multipartCompleted, failed()],
  'cancelled while parts were missing': [created(), multipartStarted, cancelled],
  cancelled: [created(), cancelled],
  'expired without a file': [created(), expired('never_uploaded')],
  'expired after its result': [created(), sourceReceived, conversionStarted(), finished(), expired('result_ttl')],
  deleted: [created(), cancelled, deleted(false)],
  abandoned: [deleted(true)],
} as const satisfies Record<string, readonly JobEvent[]>;

export type History = keyof typeof HISTORIES;
