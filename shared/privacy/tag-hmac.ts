import { createHmac } from 'node:crypto';
import type { MasterKey } from './master-key.ts';

/**
 * Lower-case hex HMAC-SHA256 of a tag, by which lists are filtered without the tag being readable (D6). It differs from
 * organization to organization, so that equal tags of two of them cannot be matched.
 */
export function tagHmac(masterKey: MasterKey, organizationId: string, tag: string): string {
  return createHmac('sha256', masterKey.derive('tags')).update(JSON.stringify([organizationId, tag])).digest('hex');
}
