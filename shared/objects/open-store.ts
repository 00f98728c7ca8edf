import { join } from 'node:path';
import type { Settings } from '../config/settings.ts';
import type { MasterKey } from '../privacy/master-key.ts';
import { openDiskStore } from './disk/disk-store.ts';
import type { ObjectStore } from './object-store.ts';

/** Settings that say where files lie and under which address clients reach them. */
export const OBJECT_SETTINGS = ['DATA_DIR', 'PUBLIC_URL', 'PORT'] as const;

/** The object store of this installation: files on disk below the data folder. */
export async function openObjectStore(settings: Settings<(typeof OBJECT_SETTINGS)[number]>, masterKey: MasterKey): Promise<ObjectStore> {
  return openDiskStore({ folder: join(settings.DATA_DIR, 'objects'), publicUrl: publicUrlOf(settings), masterKey });
}

/** Address under which clients reach the service, without `/v1` and without a slash at its end. */
export function publicUrlOf(settings: Settings<'PUBLIC_URL' | 'PORT'>): string {
  return (settings.PUBLIC_URL ?? `http://127.0.0.1:${settings.PORT}`).replace(/\/+$/, '');
}
