import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { EventData } from '../../../shared/events/registry.ts';
import type { MasterKey } from '../../../shared/privacy/master-key.ts';
import type { JsonObject } from '../body/read-body.ts';
import { canonicalJson } from './canonical-json.ts';

const KEY_BYTES = 32;

/**
 * A request that carries an Idempotency-Key. Everything here follows from the master key, the API key's id and the
 * value of the header, and nothing of it leads back to the value, which is stored nowhere.
 */
export type KeyedRequest = {
  /** What `job.created` tells of it: which key, and which body (D82). */
  readonly mark: NonNullable<EventData<'job.created'>['idempotency']>;
  /** Where the request is noted: one place for each API key and value (D11, D79). */
  readonly place: string;
  /** Seals the answer, so that it can be read only by who knows the value of the header. */
  readonly sealKey: KeyObject;
};

/** Derives what is kept of a request. The same API key id, header and JSON value give the same, in every process. */
export function keyedRequest(masterKey: MasterKey, apiKeyId: string, headerValue: string, body: JsonObject): KeyedRequest {
  const secret = masterKey.derive('idempotency').export();
  const expand = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', headerValue, secret, `${purpose}|${apiKeyId}`, KEY_BYTES));
  const keyHash = expand('place').toString('hex');
  // Keyed, not a bare hash: the log keeps it for ever, and a guessed body must not be told from a wrong one (D88).
  const fingerprint = createHmac('sha256', expand('fingerprint')).update(canonicalJson(body)).digest('hex');
  return { mark: { key_hash: keyHash, fingerprint }, place: `${apiKeyId}.${keyHash}`, sealKey: createSecretKey(expand('seal')) };
}
