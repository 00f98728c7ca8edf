import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { loadSettings } from '../../shared/config/load.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import { OBJECT_SETTINGS, openObjectStore, S3_SETTINGS, s3OptionsOf } from '../../shared/objects/open-store.ts';
import { openClient } from '../../shared/objects/s3/client.ts';
import { openMasterKey } from '../../shared/privacy/master-key.ts';
import type { Answer, ErrorBody } from './client.ts';
import type { TestService } from './service.ts';

/** Settings of a bucket that the environment of the tests names: services that tests start keep their files there. */
export const GIVEN_BUCKET: Readonly<Record<string, string>> = Object.fromEntries(
  S3_SETTINGS.flatMap((name) => {
    const value = process.env[name];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  }),
);

const bucket = s3OptionsOf(loadSettings(GIVEN_BUCKET, S3_SETTINGS));

/** Tests of how the service itself answers at the links of files; a bucket answers in its own way. */
export function describeOwnLinks(title: string, tests: () => void): void {
  (bucket ? describe.skip : describe)(title, tests);
}

/** What a bucket answers to an upload that comes too late (D91); the service itself refuses it. */
export const BUCKET_TAKES: readonly number[] = bucket ? [200] : [];

/** Requires that a link was refused: as the service does it, or by 403 where a bucket answers. */
export function requireRefused(answer: Answer, own: { readonly status: number; readonly error?: Readonly<Record<string, unknown>> }): void {
  expect(answer.status).to.equal(bucket ? 403 : own.status);
  if (!bucket && own.error) expect((answer.body as ErrorBody).error).to.deep.include(own.error);
}

/** The store of a service, past the service itself. */
export function openStoreOf(service: TestService): Promise<ObjectStore> {
  const settings = loadSettings({ ...GIVEN_BUCKET, DATA_DIR: service.dataDir, PUBLIC_URL: service.baseUrl }, OBJECT_SETTINGS);
  return openObjectStore(settings, openMasterKey(service.addresses.masterKey));
}

/** Whether the store holds any whole file of a job. */
export async function hasFiles(store: ObjectStore, jobId: string): Promise<boolean> {
  for (const prefix of ['source/', 'result/'] as const) {
    for await (const { key } of store.list(prefix)) if (key.includes(jobId)) return true;
  }
  return false;
}

/** Unfinished uploads in parts of a job, by whatever name the store has for them. */
export async function openUploadsOf(service: TestService, jobId: string): Promise<readonly string[]> {
  if (!bucket) return (await readdir(join(service.dataDir, 'objects/multipart'))).filter((name) => name.includes(jobId));
  const client = openClient(bucket);
  try {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket.bucket }));
    return Uploads.flatMap(({ Key = '' }) => (Key.includes(jobId) ? [Key] : []));
  } finally {
    client.destroy();
  }
}
