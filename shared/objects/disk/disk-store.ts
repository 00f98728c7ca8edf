import type { KeyObject } from 'node:crypto';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { MasterKey } from '../../privacy/master-key.ts';
import { composeEtag } from '../composed-etag.ts';
import { MultipartNotFoundError, ObjectChangedError, ObjectExistsError, ObjectNotFoundError } from '../errors.ts';
import { checkKey, isWrittenOnce, type ObjectKey, type ObjectPrefix } from '../keys.ts';
import { fileLinkKey, signLink, type FileLink } from '../links.ts';
import type { DownloadTerms, ListedObject, NamedPart, ObjectHead, ObjectRecord, ObjectStore, PartSize, Precondition, StoredPart, UploadTerms, WriteLimits } from '../object-store.ts';
import type { ByteRange } from '../range.ts';
import { copyParts } from './assemble.ts';
import { fillNewFile, readContent, readDescribed, type OpenFile } from './content.ts';
import { FreeSpace, roomAt, type RoomLook } from './free-space.ts';
import { listFolder } from './list-folder.ts';
import { MultipartFolder } from './multipart-folder.ts';
import { publishFirst, publishOver, Staging, SWEEP_EVERY_MS, syncFolder } from './staging.ts';
import { onDisk, unless } from './storage-error.ts';

/** Where the files lie, under which address clients reach them, and the key their links are signed with. */
export type DiskStoreOptions = {
  readonly folder: string;
  readonly publicUrl: string;
  readonly masterKey: MasterKey;
  readonly clock?: Clock;
  /** Room that files leave free on the disk, in bytes; without it 2 GiB, or a tenth of a smaller disk. */
  readonly freeBytesMin?: number | undefined;
  /** Looks how much room there is; without it the filesystem of the folder is asked. */
  readonly lookAtRoom?: RoomLook;
  /** How often what dead processes left over is looked for, in ms. */
  readonly sweepEveryMs?: number;
};

/**
 * Opens the store, makes its folders, and removes what processes that died left half-written half an hour ago or
 * earlier: now, and again and again while this process lives.
 */
export async function openDiskStore(options: DiskStoreOptions): Promise<ObjectStore> {
  return await onDisk(async () => {
    for (const kind of ['source', 'result', 'multipart']) await mkdir(join(options.folder, kind), { recursive: true, mode: 0o700 });
    const staging = new Staging(join(options.folder, '.tmp'), new FreeSpace(options.lookAtRoom ?? (() => roomAt(options.folder)), options.freeBytesMin));
    await staging.prepare();
    const clock = options.clock ?? systemClock;
    await staging.sweep(clock.nowMs());
    staging.sweepOnAndOn(clock, options.sweepEveryMs ?? SWEEP_EVERY_MS);
    await syncFolder(options.folder);
    return new DiskObjectStore(options, staging);
  });
}

/** Files below one folder, named by their keys. Any number of processes may use the folder at once. */
class DiskObjectStore implements ObjectStore {
  readonly #folder: string;
  readonly #staging: Staging;
  readonly #multipart: MultipartFolder;
  /** Assemblies that are running, by key and entity tag: a client that asks again meanwhile must not double the work. */
  readonly #assembling = new Map<string, Promise<ObjectHead>>();
  readonly #publicUrl: string;
  readonly #linkKey: KeyObject;

  constructor(options: DiskStoreOptions, staging: Staging) {
    this.#folder = options.folder;
    this.#staging = staging;
    this.#multipart = new MultipartFolder(join(options.folder, 'multipart'), staging);
    this.#publicUrl = options.publicUrl.replace(/\/+$/, '');
    this.#linkKey = fileLinkKey(options.masterKey);
  }

  async head(key: ObjectKey): Promise<ObjectHead | undefined> {
    const record = await onDisk(() => this.#describe(key));
    return record && { size_bytes: record.size_bytes, etag: record.etag };
  }

  async read(key: ObjectKey, options: Precondition & { readonly range?: ByteRange } = {}): Promise<Readable> {
    return await onDisk(async () => {
      const opened = await this.#open(key, options);
      try {
        return readContent(opened, options.range);
      } catch (error) {
        await opened.file.close();
        throw error;
      }
    });
  }

  async readHead(key: ObjectKey, maxBytes: number): Promise<Buffer> {
    return await onDisk(async () => {
      const { file, record } = await this.#open(key, {});
      try {
        const length = Math.min(maxBytes, record.size_bytes);
        const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position: 0 });
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    });
  }

  async write(key: ObjectKey, source: Readable | string, limits: WriteLimits): Promise<ObjectRecord> {
    const target = this.#pathOf(key);
    return await onDisk(async () => {
      const { path, record } = await this.#staging.stage(source, limits);
      const published = isWrittenOnce(key) ? await this.#publishFirst(key, path, record) : await publishOver(path, target).then(() => record);
      // A result's folder may be new, so the folder above it is synced too.
      await syncFolder(dirname(target));
      await syncFolder(dirname(dirname(target)));
      return published;
    });
  }

  async download(key: ObjectKey, path: string, options: Precondition = {}): Promise<ObjectRecord> {
    return await onDisk(async () => {
      const opened = await this.#open(key, options);
      try {
        await fillNewFile(path, opened);
        return opened.record;
      } finally {
        await opened.file.close();
      }
    });
  }

  async remove(key: ObjectKey): Promise<void> {
    const path = this.#pathOf(key);
    await onDisk(async () => {
      await rm(path, { force: true });
      const folder = dirname(path);
      // The folder of a job's results goes with the last of them.
      const emptied = checkKey(key).kind === 'result' && (await unless(['ENOTEMPTY', 'EEXIST', 'ENOENT'], rmdir(folder).then(() => true)));
      await unless(['ENOENT'], syncFolder(emptied ? dirname(folder) : folder));
    });
  }

  async removePrefix(prefix: ObjectPrefix): Promise<void> {
    for await (const { key } of this.list(prefix)) await this.remove(key);
    if (prefix === 'source/') await onDisk(() => this.#multipart.dropAll());
  }

  list(prefix: ObjectPrefix): AsyncIterable<ListedObject> {
    return listFolder(this.#folder, prefix);
  }

  async signUpload(key: ObjectKey, terms: UploadTerms): Promise<string> {
    return await this.#sign({ operation: 'upload', key, expiresAtMs: terms.expiresAtMs, maxBytes: terms.maxBytes });
  }

  async signDownload(key: ObjectKey, terms: DownloadTerms): Promise<string> {
    const { expiresAtMs, contentType, disposition } = terms;
    return await this.#sign({ operation: 'download', key, expiresAtMs, contentType, disposition });
  }

  async hasUpload(key: ObjectKey): Promise<boolean> {
    return (await this.head(key)) !== undefined;
  }

  /** A source is never replaced here, so it is bound from the moment it is there. */
  async bindUpload(key: ObjectKey): Promise<ObjectHead | undefined> {
    return await this.head(key);
  }

  async openMultipart(key: ObjectKey): Promise<string> {
    return await onDisk(() => this.#multipart.open(key));
  }

  async signPart(key: ObjectKey, uploadId: string, terms: PartSize & { readonly expiresAtMs: number }): Promise<string> {
    const { partNumber, sizeBytes, expiresAtMs } = terms;
    return await this.#sign({ operation: 'part', key, uploadId, partNumber, sizeBytes, expiresAtMs });
  }

  async writePart(key: ObjectKey, uploadId: string, part: PartSize, body: Readable): Promise<StoredPart> {
    return await onDisk(() => this.#multipart.write(key, uploadId, part, body));
  }

  async listParts(key: ObjectKey): Promise<readonly StoredPart[]> {
    return await onDisk(() => this.#multipart.list(key));
  }

  async completeMultipart(key: ObjectKey, parts: readonly NamedPart[]): Promise<ObjectHead> {
    const name = `${key} ${composeEtag(parts)}`;
    const running = this.#assembling.get(name);
    if (running) return await running;
    const assembling = onDisk(() => this.#assemble(key, parts)).finally(() => this.#assembling.delete(name));
    this.#assembling.set(name, assembling);
    return await assembling;
  }

  async abortMultipart(key: ObjectKey): Promise<void> {
    await onDisk(() => this.#multipart.drop(key));
  }

  async probe(): Promise<void> {
    await onDisk(async () => {
      const { path } = await this.#staging.stage(Readable.from([]), { maxBytes: 0 });
      await rm(path, { force: true });
    });
  }

  /** The parts stay until the object is published, so that every step can be done again. */
  async #assemble(key: ObjectKey, parts: readonly NamedPart[]): Promise<ObjectHead> {
    const record = (await this.#describe(key)) ?? (await this.#publishParts(key, parts));
    if (record.etag !== composeEtag(parts)) throw new ObjectExistsError();
    await this.#multipart.drop(key);
    return { size_bytes: record.size_bytes, etag: record.etag };
  }

  async #publishParts(key: ObjectKey, parts: readonly NamedPart[]): Promise<ObjectRecord> {
    const uploadId = await this.#multipart.find(key);
    try {
      if (uploadId === undefined) throw new MultipartNotFoundError();
      const staged = await this.#staging.stageBy(0, (file, space) => copyParts(parts, (number) => this.#multipart.partPath(key, uploadId, number), file, space));
      const record = await this.#publishFirst(key, staged.path, staged.record);
      await syncFolder(dirname(this.#pathOf(key)));
      return record;
    } catch (error) {
      // Another process that completes the same upload takes the parts away when it is through.
      const made = await this.#describe(key);
      if (made) return made;
      throw error;
    }
  }

  /** What lies under the key afterwards. Throws `ObjectExistsError` when those are other bytes. */
  async #publishFirst(key: ObjectKey, path: string, record: ObjectRecord): Promise<ObjectRecord> {
    if (await publishFirst(path, this.#pathOf(key))) return record;
    const found = await this.#describe(key);
    if (found?.sha256 !== record.sha256) throw new ObjectExistsError();
    return found;
  }

  #sign(link: FileLink): Promise<string> {
    return Promise.resolve(`${this.#publicUrl}${signLink(this.#linkKey, link)}`);
  }

  #pathOf(key: ObjectKey): string {
    return join(this.#folder, checkKey(key).key);
  }

  async #describe(key: ObjectKey): Promise<ObjectRecord | undefined> {
    const opened = await unless(['ENOENT'], readDescribed(this.#pathOf(key)));
    await opened?.file.close();
    return opened?.record;
  }

  /** The caller closes the file. */
  async #open(key: ObjectKey, { ifMatch }: Precondition): Promise<OpenFile> {
    const opened = await unless(['ENOENT'], readDescribed(this.#pathOf(key)));
    if (!opened) throw new ObjectNotFoundError();
    if (ifMatch === undefined || ifMatch === opened.record.etag) return opened;
    await opened.file.close();
    throw new ObjectChangedError();
  }
}
