import { S3ServiceException } from '@aws-sdk/client-s3';
import { CodedError, TransientError } from '../../errors/errors.ts';
import { ObjectChangedError, ObjectNotFoundError } from '../errors.ts';

/** Codes of a store that has no such object. HEAD has no body, so there the code is `NotFound`. */
const NOT_FOUND: ReadonlySet<string> = new Set(['NoSuchKey', 'NotFound']);

/** Code that the store answered, such as `NoSuchUpload`; undefined for every other error. */
export function s3Code(error: unknown): string | undefined {
  return error instanceof S3ServiceException ? error.name : undefined;
}

/** HTTP status that the store answered; undefined when it did not answer. */
export function s3Status(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** True when a condition of the request did not hold, or another request was writing the same object. */
export function isConditionFailed(error: unknown): boolean {
  const status = s3Status(error);
  return status === 412 || (status === 409 && s3Code(error) === 'ConditionalRequestConflict');
}

/** True when a range begins behind the end of an object. */
export function isRangeBeyond(error: unknown): boolean {
  return s3Status(error) === 416;
}

/**
 * What a failure of the store is to the rest of the service. A missing object and a condition that does not hold have
 * their classes. Everything else, also a missing bucket or a refused key, is `TransientError`: an operator mends it,
 * then the same works. The message names the answer and never an address or an object.
 */
export function translateS3Error(error: unknown): unknown {
  if (error instanceof CodedError || isFaultOfOurs(error)) return error;
  const code = s3Code(error);
  if (code !== undefined && NOT_FOUND.has(code)) return new ObjectNotFoundError();
  if (s3Status(error) === 412) return new ObjectChangedError();
  if (!(error instanceof Error)) return error;
  const words = code === undefined ? `did not answer (${connectionCode(error)})` : `answered ${s3Status(error) ?? ''} ${code}`;
  // Without the cause: what the library attaches to it holds addresses and names of objects.
  return new TransientError('storage', `the object store ${words}`);
}

/** Runs requests to the store; see `translateS3Error`. */
export async function onS3<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw translateS3Error(error);
  }
}

/** Answers undefined instead of throwing when the store answers one of `codes`. */
export async function unlessS3<Result>(codes: readonly string[], work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes(s3Code(error) ?? '')) return undefined;
    throw error;
  }
}

/** The code of the connection, `ECONNREFUSED` for instance, or the kind of the error. */
function connectionCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** A mistake in our own code must not be waited for like an outage; an answer that nobody can read, of a proxy say, is one. */
function isFaultOfOurs(error: unknown): boolean {
  if (error instanceof Error && ('$metadata' in error || '$response' in error)) return false;
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError || error instanceof SyntaxError;
}
