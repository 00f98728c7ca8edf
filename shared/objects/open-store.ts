import { join } from 'node:path';
import type { Settings } from '../config/settings.ts';
import type { MasterKey } from '../privacy/master-key.ts';
import { openDiskStore } from './disk/disk-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { S3Options } from './s3/client.ts';

/** Settings of the bucket, when there is one. */
export const S3_SETTINGS = ['S3_BUCKET', 'S3_REGION', 'S3_ENDPOINT', 'S3_PUBLIC_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY', 'S3_FORCE_PATH_STYLE'] as const;

/** Settings that say where files lie and under which address clients reach them. */
export const OBJECT_SETTINGS = ['DATA_DIR', 'DISK_FREE_MIN_BYTES', 'PUBLIC_URL', 'FILES_PUBLIC_URL', 'PORT', ...S3_SETTINGS, 'UPLOAD_URL_TTL_SECONDS', 'PART_URL_TTL_SECONDS', 'RESULT_TTL_SECONDS'] as const;

type ObjectSettings = Settings<(typeof OBJECT_SETTINGS)[number]>;

/** The object store of this installation: a bucket when one is set, else files on disk below the data folder. Throws `ConfigurationError`. */
export async function openObjectStore(settings: ObjectSettings, masterKey: MasterKey): Promise<ObjectStore> {
  const bucket = s3OptionsOf(settings);
  if (!bucket) return openDiskStore({ folder: join(settings.DATA_DIR, 'objects'), publicUrl: filesUrlOf(settings), masterKey, freeBytesMin: settings.DISK_FREE_MIN_BYTES });
  // Loaded only where it is used: the library is larger than the whole service.
  const { openS3Store } = await import('./s3/s3-store.ts');
  return openS3Store({ ...bucket, spoolFolder: join(settings.DATA_DIR, 'spool'), lifetimes: settings });
}

/** The bucket of this installation; undefined when files lie on disk. */
export function s3OptionsOf(settings: Settings<(typeof S3_SETTINGS)[number]>): S3Options | undefined {
  const { S3_BUCKET: bucket, S3_REGION: region, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  // The settings are all or none; see `GROUPS`.
  if (bucket === undefined || region === undefined || accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { bucket, region, accessKeyId, secretAccessKey, endpoint: settings.S3_ENDPOINT, publicEndpoint: settings.S3_PUBLIC_ENDPOINT, forcePathStyle: settings.S3_FORCE_PATH_STYLE ?? false };
}

/** Address under which clients reach files on disk: a host of their own, or that of the service (D92). Without a slash at its end. */
export function filesUrlOf(settings: Settings<'FILES_PUBLIC_URL' | 'PUBLIC_URL' | 'PORT'>): string {
  return settings.FILES_PUBLIC_URL?.replace(/\/+$/, '') ?? publicUrlOf(settings);
}

/** Address under which clients reach the service, without `/v1` and without a slash at its end. */
export function publicUrlOf(settings: Settings<'PUBLIC_URL' | 'PORT'>): string {
  return (settings.PUBLIC_URL ?? `http://127.0.0.1:${settings.PORT}`).replace(/\/+$/, '');
}
