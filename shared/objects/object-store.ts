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

/** One part of a multipart upload: its number, from 1, and exactly how long it is. */
export type PartSize = { readonly partNumber: number; readonly sizeBytes: number };

/** A part by its number and the MD5 of its bytes (bare hex): all that is needed to assemble it. */
export type NamedPart = { readonly part_number: number; readonly etag: string };

/** A part that is stored. */
export type StoredPart = NamedPart & { readonly size_bytes: number };

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

  /**
   * Removes the object, and what clients have sent to its upload URL; does nothing when there is none. An open
   * multipart upload stays: `abortMultipart` drops it.
   */
  remove(key: ObjectKey): Promise<void>;

  /** Removes every object whose key starts so, and drops the open multipart uploads below it. */
  removePrefix(prefix: ObjectPrefix): Promise<void>;

  /** Every object whose key starts so, in no order. Objects stored or removed meanwhile may be in it or not. */
  list(prefix: ObjectPrefix): AsyncIterable<ListedObject>;

  /** URL that takes one PUT. The same terms give the same URL, so that it is never stored (D18). */
  signUpload(key: ObjectKey, terms: UploadTerms): Promise<string>;

  /** URL that answers GET. The same terms give the same URL, so that it is never stored (D19). */
  signDownload(key: ObjectKey, terms: DownloadTerms): Promise<string>;

  /** True when a client has sent a whole file for this source, bound or not. Cheap: every read of a waiting job asks. */
  hasUpload(key: ObjectKey): Promise<boolean>;

  /**
   * What a client has sent for this source, fixed so that no later PUT changes it; undefined when there is nothing.
   * The object of a single upload or of a completed multipart upload, whichever was whole first (D46). A single upload
   * above `maxBytes` is answered without being fixed: it will be refused (D91). Called again it answers the same.
   */
  bindUpload(key: ObjectKey, limits: { readonly maxBytes: number }): Promise<ObjectHead | undefined>;

  /**
   * The store's own id of the multipart upload that is open for a source; opens one when there is none. However many
   * call, also at once, all get the same id until that upload is completed or aborted. It is kept nowhere else.
   */
  openMultipart(key: ObjectKey): Promise<string>;

  /**
   * URL that takes one PUT of exactly `sizeBytes` and answers its entity tag in `ETag`. It works for as long as this
   * upload is open. The same terms give the same URL.
   */
  signPart(key: ObjectKey, uploadId: string, terms: PartSize & { readonly expiresAtMs: number }): Promise<string>;

  /**
   * Stores one part, as a PUT to its URL does; sent again it takes the place of the one before. Throws
   * `MultipartNotFoundError` when this upload is not open, and for the body what `write` throws.
   */
  writePart(key: ObjectKey, uploadId: string, part: PartSize, body: Readable): Promise<StoredPart>;

  /** Parts of the upload that is open for a source, by number; none when no upload is open. */
  listParts(key: ObjectKey): Promise<readonly StoredPart[]>;

  /**
   * Makes the object out of exactly these parts, 1, 2, 3, … in this order, and closes the upload. Its entity tag is
   * that of `composeEtag`. The same call again answers the same, also when the first one broke off at any moment or
   * its answer was lost. Throws `PartMismatchError`, `MultipartNotFoundError`, and `ObjectExistsError` when another
   * file was whole before (D46); whatever it throws, the parts are kept.
   */
  completeMultipart(key: ObjectKey, parts: readonly NamedPart[]): Promise<ObjectHead>;

  /** Drops the upload that is open for a source with all its parts, those on their way too; does nothing when there is none. */
  abortMultipart(key: ObjectKey): Promise<void>;

  /** Answers when the store takes writes; throws `TransientError` when it does not. */
  probe(): Promise<void>;
}
