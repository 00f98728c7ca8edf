import type { Readable } from 'node:stream';
import type { ByteRange } from './range.ts';
import type { ObjectKey, ObjectPrefix } from './keys.ts';

/** Size and entity tag (bare hex, no quotes) of a stored object. */
export type ObjectHead = { readonly size_bytes: number; readonly etag: string };

/** What is known of an object whose every byte passed by: also the lower-case hex SHA-256. */
export type ObjectRecord = ObjectHead & { readonly sha256: string };

/** One line of a listing. */
export type ListedObject = { readonly key: ObjectKey; readonly size_bytes: number; readonly modified_at_ms: number };

/** Bounds of a body: never longer than `maxBytes`; exactly `expectedBytes` long when that is known. */
export type WriteLimits = { readonly maxBytes: number; readonly expectedBytes?: number };

/** Names the object that is meant, by its entity tag. */
export type Precondition = { readonly ifMatch?: string };

/** What an upload link allows. */
export type UploadTerms = { readonly expiresAtMs: number; readonly maxBytes: number };

/** What a download link answers: the headers are part of the signature, so nobody can have a file shown as another type. */
export type DownloadTerms = { readonly expiresAtMs: number; readonly contentType: string; readonly disposition: string };

/**
 * Where files lie. Objects appear whole or not at all. Every method throws `TransientError` (`storage`) when the store
 * is away or full, and `Defect` when a key is not one of ours or a stored object is damaged.
 */
export interface ObjectStore {
  /** Size and entity tag; undefined when there is no such object. */
  head(key: ObjectKey): Promise<ObjectHead | undefined>;

  /**
   * The bytes, or a range of them that lies within the object. The caller reads the stream to its end or destroys it.
   * Throws `ObjectNotFoundError`, `ObjectChangedError`.
   */
  read(key: ObjectKey, options?: Precondition & { readonly range?: ByteRange }): Promise<Readable>;

  /** The first bytes of the object, at most `maxBytes`. Throws `ObjectNotFoundError`. */
  readHead(key: ObjectKey, maxBytes: number): Promise<Buffer>;

  /**
   * Stores a stream, or a local file given by its path, and answers when it is durable. Under a `source/` key the first
   * complete object stays: the same bytes again answer the same, others throw `ObjectExistsError` (D46). Under a
   * `result/` key the object is replaced. Throws `ObjectTooLargeError` and `IncompleteBodyError`, and what the stream
   * itself throws if that is a `CodedError`; then nothing was stored, and the stream is not destroyed, so that a
   * client can still be answered.
   */
  write(key: ObjectKey, source: Readable | string, limits: WriteLimits): Promise<ObjectRecord>;

  /** Copies the object into a new local file. Leaves no file behind when it throws (as `read` does). */
  download(key: ObjectKey, path: string, options?: Precondition): Promise<ObjectRecord>;

  /** Removes the object; does nothing when there is none. */
  remove(key: ObjectKey): Promise<void>;

  /** Removes every object whose key starts so. */
  removePrefix(prefix: ObjectPrefix): Promise<void>;

  /** Every object whose key starts so, in no order. Objects stored or removed meanwhile may be in it or not. */
  list(prefix: ObjectPrefix): AsyncIterable<ListedObject>;

  /** URL that takes one PUT. The same terms give the same URL, so that it is never stored (D18). */
  signUpload(key: ObjectKey, terms: UploadTerms): Promise<string>;

  /** URL that answers GET. The same terms give the same URL, so that it is never stored (D19). */
  signDownload(key: ObjectKey, terms: DownloadTerms): Promise<string>;

  /** Answers when the store takes writes; throws `TransientError` when it does not. */
  probe(): Promise<void>;
}
