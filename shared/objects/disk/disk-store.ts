import type { KeyObject } from 'node:crypto';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { MasterKey } from '../../privacy/master-key.ts';
import { ObjectChangedError, ObjectExistsError, ObjectNotFoundError } from '../errors.ts';
import { checkKey, isWrittenOnce, type ObjectKey, type ObjectPrefix } from '../keys.ts';
import { fileLinkKey, signLink, type FileLink } from '../links.ts';
import type { DownloadTerms, ListedObject, ObjectHead, ObjectRecord, ObjectStore, Precondition, UploadTerms, WriteLimits } from '../object-store.ts';
import type { ByteRange } from '../range.ts';
import { fillNewFile, readContent, readDescribed, type OpenFile } from './content.ts';
import { listFolder } from './list-folder.ts';
import { publishFirst, publishOver, Staging, syncFolder } from './staging.ts';
import { onDisk, unless } from './storage-error.ts';

/** Where the files lie, under which address clients reach them, and the key their links are signed with. */
export type DiskStoreOptions = { readonly folder: string; readonly publicUrl: string; readonly masterKey: MasterKey; readonly clock?: Clock };

/** Opens the store, makes its folders, and removes what processes that died left half-written a day ago or earlier. */
export async function openDiskStore(options: DiskStoreOptions): Promise<ObjectStore> {
  return await onDisk(async () => {
    for (const kind of ['source', 'result']) await mkdir(join(options.folder, kind), { recursive: true, mode: 0o700 });
    const staging = new Staging(join(options.folder, '.tmp'));
    await staging.prepare();
    await staging.sweep((options.clock ?? systemClock).nowMs());
    await syncFolder(options.folder);
    return new DiskObjectStore(options, staging);
  });
}

/** Files below one folder, named by their keys. Any number of processes may use the folder at once. */
class DiskObjectStore implements ObjectStore {
  readonly #folder: string;
  readonly #staging: Staging;
  readonly #publicUrl: string;
  readonly #linkKey: KeyObject;

  constructor(options: DiskStoreOptions, staging: Staging) {
    this.#folder = options.folder;
    this.#staging = staging;
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
      if (!isWrittenOnce(key)) await publishOver(path, target);
      else if (!(await publishFirst(path, target)) && (await this.#describe(key))?.sha256 !== record.sha256) throw new ObjectExistsError();
      // A result's folder may be new, so the folder above it is synced too.
      await syncFolder(dirname(target));
      await syncFolder(dirname(dirname(target)));
      return record;
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

  async probe(): Promise<void> {
    await onDisk(async () => {
      const { path } = await this.#staging.stage(Readable.from([]), { maxBytes: 0 });
      await rm(path, { force: true });
    });
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
