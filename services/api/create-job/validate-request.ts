import type { KeyContext } from '../../../shared/accounts/accounts-copy.ts';
import type { AddressRule } from '../../../shared/egress/address-rule.ts';
import { EgressError, type EgressReason } from '../../../shared/egress/egress-error.ts';
import { checkUrl } from '../../../shared/egress/url-rule.ts';
import { normalizeFormat } from '../../../shared/domain/catalogue/formats.ts';
import { findPair, type Pair } from '../../../shared/domain/catalogue/pairs.ts';
import { NO_TRIGGERS, parseTestTriggers, type TestTriggers } from '../../../shared/domain/test-triggers.ts';
import type { JsonObject } from '../body/read-body.ts';
import { ApiError, type Issue } from '../errors/api-error.ts';
import { createJobBody } from './request-schema.ts';
import { validateTasks, type JobRequest } from './validate-tasks.ts';

/** A create request that can be carried out. `triggers` do nothing unless a test key sent them (D65). */
export type AcceptedRequest = { readonly request: JobRequest; readonly pair: Pair; readonly tag?: string; readonly triggers: TestTriggers };

/** What a person can do about a URL that is refused. */
const URL_MESSAGES: Readonly<Partial<Record<EgressReason, string>>> = {
  not_https: 'The URL must start with https://.',
  invalid_url: 'The URL is not valid: at most 2048 characters, no spaces, no credentials.',
  blocked_address: 'The host of the URL is not a public one.',
};

/** What a request is held against besides the contract. */
export type RequestRules = {
  readonly isAllowedAddress: AddressRule;
  /** Whether some converter converts the pair. */
  readonly isOffered: (pair: Pair) => boolean;
};

/**
 * Checks the body of POST /jobs: first everything of §2.3 at once, and what a test key asks for by its tag (D65); then
 * whether the pair is supported and offered; then whether the URL of an import may be fetched, as far as its text tells (D1, D83).
 * Throws `ApiError` with `validation_failed`, `unsupported_conversion` or `url_import_failed`, and what `isOffered` throws.
 */
export function validateRequest(body: JsonObject, keyMode: KeyContext['key_mode'], { isAllowedAddress, isOffered }: RequestRules): AcceptedRequest {
  const issues: Issue[] = [];
  const validated = validateTasks(body['tasks']);
  if ('issues' in validated) issues.push(...validated.issues);
  const tag = createJobBody.shape.tag.safeParse(body['tag']);
  if (!tag.success) issues.push(...tag.error.issues.map(({ message }) => ({ path: 'tag', message })));
  const triggers = readTriggers(keyMode === 'test' ? tag.data : undefined, 'request' in validated && validated.request.fetch === undefined, issues);
  if ('issues' in validated || !tag.success || issues.length > 0) {
    throw ApiError.issues(issues, 'field' in validated && validated.field !== undefined ? { field: validated.field } : {});
  }
  const { request } = validated;
  const pair = requirePair(request, isOffered);
  if (request.fetch) requireFetchable(request.fetch.url, isAllowedAddress);
  return { request, pair, ...(tag.data === undefined ? {} : { tag: tag.data }), triggers };
}

function readTriggers(tag: string | undefined, isUpload: boolean, issues: Issue[]): TestTriggers {
  const parsed = parseTestTriggers(tag);
  if ('problem' in parsed) {
    issues.push({ path: 'tag', message: parsed.problem });
    return NO_TRIGGERS;
  }
  // A file that is uploaded is not fetched, so no such job could ever fail so.
  if (parsed.triggers.importError?.code === 'url_import_failed' && isUpload) issues.push({ path: 'tag', message: 'test:fail=url_import_failed needs an import/url task' });
  return parsed.triggers;
}

/** Names are not looked up here: what they mean counts when the file is fetched, and may be another by then. */
function requireFetchable(url: string, isAllowed: AddressRule): void {
  try {
    checkUrl(url, isAllowed);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw ApiError.of(400, 'url_import_failed', URL_MESSAGES[error.reason] ?? 'The URL cannot be fetched.', { reason: error.reason });
  }
}

function requirePair({ inputFormat, outputFormat }: JobRequest, isOffered: RequestRules['isOffered']): Pair {
  const [input, output] = [normalizeFormat(inputFormat), normalizeFormat(outputFormat)];
  const pair = input && output ? findPair(input, output) : undefined;
  if (pair && isOffered(pair)) return pair;
  throw unsupportedConversion(inputFormat, outputFormat);
}

/** 400: nobody here converts the one format to the other (§2.3, D22). */
export function unsupportedConversion(input_format: string, output_format: string): ApiError {
  return ApiError.of(400, 'unsupported_conversion', 'This conversion is not supported. GET /v1/operations lists those that are.', { input_format, output_format });
}
