import { partBytes, type MultipartPlan } from '../../../shared/domain/multipart.ts';
import type { NamedPart, StoredPart } from '../../../shared/objects/object-store.ts';
import { ApiError, type Issue } from '../errors/api-error.ts';

/** Problems named in one answer. */
const ISSUES_MAX = 100;

/** Checks that every part is named, and once, in any order, before anybody asks the store. Throws `ApiError` with issues (D45). */
export function requireEveryPart(plan: MultipartPlan, parts: readonly NamedPart[]): void {
  const issues: Issue[] = [];
  const named = new Set<number>();
  for (const [index, { part_number }] of parts.entries()) {
    if (part_number > plan.parts_expected) issues.push({ path: `parts.${index}.part_number`, message: `must be from 1 to ${plan.parts_expected}` });
    else if (named.has(part_number)) issues.push({ path: `parts.${index}.part_number`, message: 'is there already' });
    named.add(part_number);
  }
  const missing = Array.from({ length: plan.parts_expected }, (_, index) => index + 1).filter((number) => !named.has(number));
  issues.push(...missing.map((number) => ({ path: 'parts', message: `part ${number} is missing` })));
  if (issues.length > 0) throw ApiError.issues(issues.slice(0, ISSUES_MAX));
}

/** What is wrong with the parts as the store has them; each must be whole and as named (D45). At most `ISSUES_MAX`. */
export function findPartIssues(plan: MultipartPlan, parts: readonly NamedPart[], stored: readonly StoredPart[]): readonly Issue[] {
  const byNumber = new Map(stored.map((part) => [part.part_number, part]));
  const issues = [...parts.entries()].flatMap(([index, { part_number, etag }]): Issue[] => {
    const found = byNumber.get(part_number);
    if (!found) return [{ path: `parts.${index}.part_number`, message: 'was not uploaded' }];
    const sizeBytes = partBytes(plan, part_number);
    if (found.size_bytes !== sizeBytes) return [{ path: `parts.${index}.part_number`, message: `was uploaded with ${found.size_bytes} bytes and has ${sizeBytes}` }];
    return found.etag === etag ? [] : [{ path: `parts.${index}.etag`, message: 'is not that of the part that was uploaded last' }];
  });
  return issues.slice(0, ISSUES_MAX);
}
