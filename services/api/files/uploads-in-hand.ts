import { ApiError } from '../errors/api-error.ts';

/** When a client may try again, in seconds: an upload whose connection has died is given up within a minute. */
const TRY_AGAIN_S = '10';

/**
 * Takes one body at a time for each upload URL and each part. A URL carries no key and no rate limit: bodies side by
 * side, of which only one can count, would fill the disk as fast as anybody likes.
 */
export class UploadsInHand {
  readonly #names = new Set<string>();

  /** Runs `work` alone for this name, in this process. Throws `ApiError` 409 while another body for it is on its way. */
  async alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#names.has(name)) throw inProgress();
    this.#names.add(name);
    try {
      return await work();
    } finally {
      this.#names.delete(name);
    }
  }
}

function inProgress(): ApiError {
  return ApiError.of(409, 'validation_failed', 'Another upload to this URL is on its way.', { reason: 'upload_in_progress' }, { 'Retry-After': TRY_AGAIN_S });
}
