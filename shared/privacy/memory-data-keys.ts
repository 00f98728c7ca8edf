import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { DataKeyDestroyedError, type DataKeyName, type DataKeys } from './data-keys.ts';

const KEY_BYTES = 32;

/** Data keys of one process, for fast tests of what stands above them. */
export class MemoryDataKeys implements DataKeys {
  /** A destroyed key stays here as undefined. */
  readonly #keys = new Map<DataKeyName, KeyObject | undefined>();

  create(name: DataKeyName): Promise<KeyObject> {
    const existing = this.#keys.get(name);
    if (existing) return Promise.resolve(existing);
    if (this.#keys.has(name)) return Promise.reject(new DataKeyDestroyedError());
    const key = createSecretKey(randomBytes(KEY_BYTES));
    this.#keys.set(name, key);
    return Promise.resolve(key);
  }

  get(name: DataKeyName): Promise<KeyObject | undefined> {
    return Promise.resolve(this.#keys.get(name));
  }

  destroy(name: DataKeyName): Promise<void> {
    this.#keys.set(name, undefined);
    return Promise.resolve();
  }
}
