import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { Defect, TransientError } from '../../errors/errors.ts';
import { isId } from '../../ids/ids.ts';
import { MultipartNotFoundError } from '../errors.ts';
import { checkKey, isWrittenOnce, type ObjectKey } from '../keys.ts';
import type { PartSize, StoredPart } from '../object-store.ts';
import { readDescribed } from './content.ts';
import { publishInto, syncFolder, type Staging } from './staging.ts';
import { unless } from './storage-error.ts';

/** How often an upload is opened anew when others abort it at the same moment. */
const OPEN_ATTEMPTS_MAX = 5;

/** Parts are named by their numbers, without a leading zero. */
const PART_NAME = /^[1-9]\d{0,4}$/;

/**
 * Open multipart uploads: a folder for each job, in it the folder of the one open upload, in that a file for each part.
 * The name of the inner folder is the upload's id. The outer folder comes and goes whole, by one rename each, and never
 * is empty; so two that open at once settle on one upload, and a part that was on its way while its upload was aborted
 * finds no folder to go to.
 */
export class MultipartFolder {
  readonly #folder: string;
  readonly #staging: Staging;

  constructor(folder: string, staging: Staging) {
    this.#folder = folder;
    this.#staging = staging;
  }

  /** Id of the open upload; undefined when there is none. */
  async find(key: ObjectKey): Promise<string | undefined> {
    const names = await unless(['ENOENT'], readdir(this.#pathOf(key)));
    return names?.find(isId);
  }

  /** Id of the open upload, which is opened when there is none. */
  async open(key: ObjectKey): Promise<string> {
    for (let attempt = 1; attempt <= OPEN_ATTEMPTS_MAX; attempt += 1) {
      const found = await this.find(key);
      if (found !== undefined) return found;
      const made = this.#staging.newPath();
      await mkdir(join(made, randomUUID()), { recursive: true, mode: 0o700 });
      // Its content is durable before it can be found, so that a power cut leaves no empty folder.
      await syncFolder(made);
      const isOurs = await unless(['ENOTEMPTY', 'EEXIST'], rename(made, this.#pathOf(key)).then(() => true));
      if (isOurs === true) await syncFolder(this.#folder);
      else await rm(made, { recursive: true });
    }
    throw new TransientError('storage', 'a multipart upload is opened and aborted again and again');
  }

  /** Stores a part whole or not at all; the one before stays until then. */
  async write(key: ObjectKey, uploadId: string, { partNumber, sizeBytes }: PartSize, body: Readable): Promise<StoredPart> {
    const path = this.partPath(key, uploadId, partNumber);
    // Asked first, so that a part nobody can use is refused before it is taken in.
    if ((await unless(['ENOENT'], access(dirname(path)).then(() => true))) !== true) throw new MultipartNotFoundError();
    const { path: staged, record } = await this.#staging.stage(body, { maxBytes: sizeBytes, expectedBytes: sizeBytes });
    if (!(await publishInto(staged, path))) throw new MultipartNotFoundError();
    await unless(['ENOENT'], syncFolder(dirname(path)));
    return { part_number: partNumber, size_bytes: record.size_bytes, etag: record.etag };
  }

  /** Parts of the open upload, by number. */
  async list(key: ObjectKey): Promise<readonly StoredPart[]> {
    const uploadId = await this.find(key);
    const names = uploadId === undefined ? undefined : await unless(['ENOENT'], readdir(join(this.#pathOf(key), uploadId)));
    if (uploadId === undefined || !names) return [];
    const numbers = names.filter((name) => PART_NAME.test(name)).map(Number).toSorted((a, b) => a - b);
    const parts: StoredPart[] = [];
    for (const number of numbers) {
      // The upload may be aborted while its parts are listed.
      const opened = await unless(['ENOENT'], readDescribed(this.partPath(key, uploadId, number)));
      await opened?.file.close();
      if (opened) parts.push({ part_number: number, size_bytes: opened.record.size_bytes, etag: opened.record.etag });
    }
    return parts;
  }

  /** Takes the upload away in one step, then removes it; what is left of it when this process dies is swept. */
  async drop(key: ObjectKey): Promise<void> {
    const taken = this.#staging.newPath();
    if ((await unless(['ENOENT'], rename(this.#pathOf(key), taken).then(() => true))) !== true) return;
    await syncFolder(this.#folder);
    await rm(taken, { recursive: true, force: true });
  }

  /** Drops all uploads. */
  async dropAll(): Promise<void> {
    for (const jobId of await readdir(this.#folder)) if (isId(jobId)) await this.drop(`source/${jobId}`);
  }

  /** Path of a part of an upload. Throws `MultipartNotFoundError` when the id is none of ours, before it becomes a path. */
  partPath(key: ObjectKey, uploadId: string, partNumber: number): string {
    if (!isId(uploadId)) throw new MultipartNotFoundError();
    if (!PART_NAME.test(String(partNumber))) throw new Defect('the number of a part is out of range');
    return join(this.#pathOf(key), uploadId, String(partNumber));
  }

  #pathOf(key: ObjectKey): string {
    if (!isWrittenOnce(key)) throw new Defect('only sources are uploaded in parts');
    return join(this.#folder, checkKey(key).job_id);
  }
}
