import { findPair, normalizeFormat, type Pair } from '../../../shared/domain/formats.ts';
import type { JsonObject } from '../body/read-body.ts';
import { ApiError, type Issue } from '../errors/api-error.ts';
import { createJobBody } from './request-schema.ts';
import { validateTasks, type JobRequest } from './validate-tasks.ts';

/** A create request that can be carried out. */
export type AcceptedRequest = { readonly request: JobRequest; readonly pair: Pair; readonly tag?: string };

/**
 * Checks the body of POST /jobs: first everything of §2.3 at once, then whether the pair is supported (D1). Throws
 * `ApiError` with `validation_failed` or `unsupported_conversion`.
 */
export function validateRequest(body: JsonObject): AcceptedRequest {
  const issues: Issue[] = [];
  const validated = validateTasks(body['tasks']);
  if ('issues' in validated) issues.push(...validated.issues);
  const tag = createJobBody.shape.tag.safeParse(body['tag']);
  if (!tag.success) issues.push(...tag.error.issues.map(({ message }) => ({ path: 'tag', message })));
  if ('issues' in validated || !tag.success) {
    throw ApiError.issues(issues, 'field' in validated && validated.field !== undefined ? { field: validated.field } : {});
  }
  const { request } = validated;
  return { request, pair: requirePair(request), ...(tag.data === undefined ? {} : { tag: tag.data }) };
}

function requirePair({ inputFormat, outputFormat }: JobRequest): Pair {
  const [input, output] = [normalizeFormat(inputFormat), normalizeFormat(outputFormat)];
  const pair = input && output ? findPair(input, output) : undefined;
  if (pair) return pair;
  throw ApiError.of(400, 'unsupported_conversion', 'This conversion is not supported. GET /v1/operations lists those that are.', { input_format: inputFormat, output_format: outputFormat });
}
