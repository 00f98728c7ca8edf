import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { ObjectChangedError, ObjectExistsError, ObjectNotFoundError } from '../errors.ts';
import { checkKey, checkPrefix, isWrittenOnce, parseKey, type ObjectKey, type ObjectPrefix } from '../keys.ts';
import type { DownloadTerms, ListedObject, NamedPart, ObjectHead, ObjectRecord, ObjectStore, PartSize, Precondition, StoredPart, UploadTerms, WriteLimits } from '../object-store.ts';
import type { ByteRange } from '../range.ts';
import { bindUpload, describeClaim, headName } from './bind.ts';
import { claimFirst, readClaim, type Claim } from './claim.ts';
import { openClient, openSigningClient, type Bucket, type S3Options } from './client.ts';
import { fillNewFile, openObject, type OpenObject } from './content.ts';
import { abortMultipart, completeMultipart, listParts, openMultipart, putPart } from './multipart.ts';
import { assembledName, claimedKey, claimName, folderOf, incomingName, openUploadName, PROBE_NAME, writtenName } from './names.ts';
import { listNames, removeName } from './remove.ts';
import { isRangeBeyond, onS3 } from './s3-error.ts';
import { signGet, signPartPut, signPut, uploadSignatureSeconds, type LinkLifetimes, type Signer } from './sign.ts';
import { putSpooled, withSpooled } from './spool.ts';

/** A store that does not answer a probe within this time, in ms, is away. */
const PROBE_MS_MAX = 3_000;

/** The bucket, and what the store needs on this machine. */
export type S3StoreOptions = S3Options & {
  /** Folder for bodies on their way to the store. */
  readonly spoolFolder: string;
  /** How long links work at most. */
  readonly lifetimes: LinkLifetimes;
};

/** Opens the store. Nothing is sent yet: a service starts while its store is away. Throws `ConfigurationError`. */
export function openS3Store(options: S3StoreOptions): ObjectStore {
  return new S3ObjectStore(options);
}

/** Files in one bucket. Any number of processes may use it at once. */
class S3ObjectStore implements ObjectStore {
  readonly #bucket: Bucket;
  readonly #signer: Signer;
  readonly #spoolFolder: string;

  constructor(options: S3StoreOptions) {
    this.#bucket = { client: openClient(options), name: options.bucket };
    this.#signer = { client: openSigningClient(options), bucket: options.bucket, uploadSeconds: uploadSignatureSeconds(options.lifetimes) };
    this.#spoolFolder = options.spoolFolder;
  }

  async head(key: ObjectKey): Promise<ObjectHead | undefined> {
    return await onS3(async () => {
      if (!isWrittenOnce(key)) return await headName(this.#bucket, checkKey(key).key);
      const claim = await readClaim(this.#bucket, key);
      // Put together by a call that broke off before it could claim it; it counts from then on.
      return claim ? describeClaim(claim) : await headName(this.#bucket, assembledName(key));
    });
  }

  async read(key: ObjectKey, options: Precondition & { readonly range?: ByteRange } = {}): Promise<Readable> {
    return await onS3(async () => (await this.#open(key, options)).body);
  }

  async readHead(key: ObjectKey, maxBytes: number): Promise<Buffer> {
    if (maxBytes < 1) return Buffer.alloc(0);
    return await onS3(async () => {
      try {
        return await buffer((await this.#open(key, { range: { start: 0, end: maxBytes - 1 } })).body);
      } catch (error) {
        // An empty object has no first byte.
        if (isRangeBeyond(error)) return Buffer.alloc(0);
        throw error;
      }
    });
  }

  async write(key: ObjectKey, source: Readable | string, limits: WriteLimits): Promise<ObjectRecord> {
    checkKey(key);
    return await onS3(() =>
      withSpooled(this.#spoolFolder, source, limits, async (spooled) => {
        if (!isWrittenOnce(key)) return { ...(await putSpooled(this.#bucket, key, spooled)), sha256: spooled.record.sha256 };
        const claim = (await readClaim(this.#bucket, key)) ?? (await this.#writeAndClaim(key, spooled));
        if (claim.sha256 !== spooled.record.sha256) throw new ObjectExistsError();
        return { ...describeClaim(claim), sha256: claim.sha256 };
      }),
    );
  }

  async download(key: ObjectKey, path: string, options: Precondition = {}): Promise<ObjectRecord> {
    return await onS3(async () => await fillNewFile(path, await this.#open(key, options)));
  }

  async remove(key: ObjectKey): Promise<void> {
    await onS3(async () => {
      if (!isWrittenOnce(key)) return await removeName(this.#bucket, checkKey(key).key);
      for await (const { name } of listNames(this.#bucket, folderOf(key))) {
        if (name !== openUploadName(key)) await removeName(this.#bucket, name);
      }
    });
  }

  async removePrefix(prefix: ObjectPrefix): Promise<void> {
    await onS3(async () => {
      for await (const { name } of listNames(this.#bucket, checkPrefix(prefix))) {
        const [kind, jobId] = name.split('/');
        const source = kind === 'source' ? parseKey(`${kind}/${jobId}`)?.key : undefined;
        if (source !== undefined && name === openUploadName(source)) await abortMultipart(this.#bucket, source);
        else await removeName(this.#bucket, name);
      }
    });
  }

  async *list(prefix: ObjectPrefix): AsyncGenerator<ListedObject> {
    const names = listNames(this.#bucket, checkPrefix(prefix));
    for (;;) {
      const next = await onS3(() => names.next());
      if (next.done === true) return;
      const { name, ...listed } = next.value;
      const key = parseKey(claimedKey(name) ?? name)?.key;
      if (key === undefined) continue;
      // A claim is small; what counts is the size of what it names. The object may be removed meanwhile.
      const size_bytes = isWrittenOnce(key) ? (await this.head(key))?.size_bytes : listed.size_bytes;
      if (size_bytes !== undefined) yield { key, size_bytes, modified_at_ms: listed.modified_at_ms };
    }
  }

  async signUpload(key: ObjectKey, terms: UploadTerms): Promise<string> {
    return await signPut(this.#signer, incomingName(key), terms);
  }

  async signDownload(key: ObjectKey, terms: DownloadTerms): Promise<string> {
    return await signGet(this.#signer, checkKey(key).key, terms);
  }

  async hasUpload(key: ObjectKey): Promise<boolean> {
    const whole = new Set([claimName(key), incomingName(key), assembledName(key)]);
    return await onS3(async () => {
      for await (const { name } of listNames(this.#bucket, folderOf(key))) if (whole.has(name)) return true;
      return false;
    });
  }

  async bindUpload(key: ObjectKey, limits: { readonly maxBytes: number }): Promise<ObjectHead | undefined> {
    return await onS3(() => bindUpload(this.#bucket, key, limits.maxBytes));
  }

  async openMultipart(key: ObjectKey): Promise<string> {
    return await onS3(() => openMultipart(this.#bucket, key));
  }

  async signPart(key: ObjectKey, uploadId: string, terms: PartSize & { readonly expiresAtMs: number }): Promise<string> {
    return await signPartPut(this.#signer, assembledName(key), uploadId, terms);
  }

  async writePart(key: ObjectKey, uploadId: string, part: PartSize, body: Readable): Promise<StoredPart> {
    const limits = { maxBytes: part.sizeBytes, expectedBytes: part.sizeBytes };
    return await onS3(() => withSpooled(this.#spoolFolder, body, limits, (spooled) => putPart(this.#bucket, key, uploadId, part, spooled)));
  }

  async listParts(key: ObjectKey): Promise<readonly StoredPart[]> {
    return await onS3(() => listParts(this.#bucket, key));
  }

  async completeMultipart(key: ObjectKey, parts: readonly NamedPart[]): Promise<ObjectHead> {
    return await onS3(() => completeMultipart(this.#bucket, key, parts));
  }

  async abortMultipart(key: ObjectKey): Promise<void> {
    await onS3(() => abortMultipart(this.#bucket, key));
  }

  async probe(): Promise<void> {
    const command = new PutObjectCommand({ Bucket: this.#bucket.name, Key: PROBE_NAME, Body: '' });
    await onS3(() => this.#bucket.client.send(command, { abortSignal: AbortSignal.timeout(PROBE_MS_MAX) }));
  }

  /** The object behind a key. Throws `ObjectNotFoundError`, `ObjectChangedError`, and what the library throws. */
  async #open(key: ObjectKey, options: Precondition & { readonly range?: ByteRange }): Promise<OpenObject> {
    if (!isWrittenOnce(key)) return await openObject(this.#bucket, checkKey(key).key, options);
    const claim = await readClaim(this.#bucket, key);
    if (!claim) throw new ObjectNotFoundError();
    if (options.ifMatch !== undefined && options.ifMatch !== claim.etag) throw new ObjectChangedError();
    return await openObject(this.#bucket, claim.name, { ...options, ifMatch: claim.etag });
  }

  async #writeAndClaim(key: ObjectKey, spooled: Parameters<typeof putSpooled>[2]): Promise<Claim> {
    const name = writtenName(key, randomUUID());
    const head = await putSpooled(this.#bucket, name, spooled);
    const claim = await claimFirst(this.#bucket, key, { name, ...head, sha256: spooled.record.sha256 });
    if (claim.name !== name) await removeName(this.#bucket, name);
    return claim;
  }
}
