import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { JsonObject } from '../body/read-body.ts';
import type { Dependencies } from '../dependencies.ts';
import { refuseAsRehearsed } from './rehearsed-refusal.ts';
import { validateRequest, type AcceptedRequest } from './validate-request.ts';

/**
 * Everything that can be said of a create request before anything is done for it. Throws `ApiError` when it is not
 * valid, not supported, or rehearses a refusal, and `TransientError` while nobody could upload its file,
 * or no converter has ever said what it converts.
 */
export async function admitRequest(deps: Dependencies, caller: KeyContext, body: JsonObject): Promise<AcceptedRequest> {
  const accepted = validateRequest(body, caller.key_mode, { isAllowedAddress: deps.config.isAllowedAddress, isOffered: (pair) => deps.offers.includes(pair) });
  refuseAsRehearsed(deps, caller, accepted);
  // A job whose file nobody can upload is worth nothing to its client (§7).
  await deps.storageWatch.requireWritable();
  return accepted;
}
