import { z } from 'zod';
import { id, keyMode, plan, scope, sealed, sha256, time } from './fields.ts';

/** Appended when an organization is created; its name is sealed under the organization's key. */
export const accountCreatedV1 = z.object({ plan, name: sealed });

/** Appended when an operator moves the organization to another plan. */
export const accountPlanChangedV1 = z.object({ plan });

/** Appended when an API key is created; only the SHA-256 of its 250-bit secret is kept (§5). */
export const accountApiKeyCreatedV1 = z.object({
  api_key_id: id,
  key_mode: keyMode,
  scopes: z.array(scope).min(1).max(4),
  secret_sha256: sha256,
  expires_at: time.optional(),
});

/** Appended when a key gets a new secret; the old one stops working at once, the id stays (D11). */
export const accountApiKeyRotatedV1 = z.object({ api_key_id: id, secret_sha256: sha256 });

/** Appended when a key is revoked for good. */
export const accountApiKeyRevokedV1 = z.object({ api_key_id: id });
