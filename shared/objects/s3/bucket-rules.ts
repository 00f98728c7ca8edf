import type { CORSRule, LifecycleRule } from '@aws-sdk/client-s3';

/** Names of our rules begin so; rules of other names are the operator's own and stay. */
const OURS = 'file-conversion-';
const DAY_SECONDS = 86_400;
/** A source is needed until its job ends; days count from midnight to midnight, so two of them are at least one whole. */
const SOURCE_DAYS_MIN = 2;
/** Parts of an upload that nobody completes. The window for uploads is two hours. */
const OPEN_UPLOAD_DAYS = 1;
/** How long browsers may remember what the bucket allows them, in seconds. */
const CORS_SECONDS = 3_600;

/** How long sources and results are needed, in seconds. */
export type KeepTimes = { readonly uploadWindowSeconds: number; readonly resultSeconds: number };

/** Headers that copy another object, or open an object to others. None of our links is signed with one. */
const REFUSED_HEADERS = ['x-amz-copy-source', 'x-amz-acl', 'x-amz-grant-read', 'x-amz-grant-write', 'x-amz-grant-read-acp', 'x-amz-grant-write-acp', 'x-amz-grant-full-control'] as const;

/** One statement of a bucket policy, as far as we look at it. */
export type PolicyStatement = Readonly<Record<string, unknown>> & { readonly Sid?: string | undefined };

/**
 * Lifecycle: what the service would have removed itself, had nothing gone wrong. Days are rounded so that a rule never
 * removes what is still needed.
 */
export function lifecycleRules({ uploadWindowSeconds, resultSeconds }: KeepTimes): LifecycleRule[] {
  return [
    {
      ID: `${OURS}sources`,
      Status: 'Enabled',
      Filter: { Prefix: 'source/' },
      Expiration: { Days: Math.max(SOURCE_DAYS_MIN, wholeDays(uploadWindowSeconds)) },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: OPEN_UPLOAD_DAYS },
    },
    { ID: `${OURS}results`, Status: 'Enabled', Filter: { Prefix: 'result/' }, Expiration: { Days: wholeDays(resultSeconds) } },
  ];
}

/** Days until what was stored at any time of a day may go. */
function wholeDays(seconds: number): number {
  return Math.ceil(seconds / DAY_SECONDS) + 1;
}

/** CORS: browsers of any origin may use the links they were given, and read the entity tag of a part (D63). */
export function corsRules(): CORSRule[] {
  return [{ ID: `${OURS}links`, AllowedOrigins: ['*'], AllowedMethods: ['GET', 'PUT'], AllowedHeaders: ['*'], ExposeHeaders: ['ETag'], MaxAgeSeconds: CORS_SECONDS }];
}

/**
 * Policy: what an upload link may not be used for. A store has to refuse headers of S3 that were not signed; Ceph does
 * not, and without this a client could have the store copy somebody else's object into its own job by such a header, or
 * make its upload public.
 */
export function policyStatements(bucket: string): PolicyStatement[] {
  const deny = { Effect: 'Deny', Principal: '*', Action: 's3:PutObject', Resource: [`arn:aws:s3:::${bucket}/source/*/incoming`, `arn:aws:s3:::${bucket}/source/*/assembled`] };
  // At least one character: some stores take a header that is not there for an empty one.
  return REFUSED_HEADERS.map((header) => ({ Sid: `${OURS}no-${header}`.replaceAll('-', ''), ...deny, Condition: { StringLike: { [`s3:${header}`]: '?*' } } }));
}

/** The rules as they should be: ours, and those of others. */
export function mergeRules<Rule>(present: readonly Rule[], ours: readonly Rule[], nameOf: (rule: Rule) => string | undefined): Rule[] {
  const names = new Set(ours.map(nameOf));
  return [...present.filter((rule) => !names.has(nameOf(rule))), ...ours];
}

/** True when both say the same, whatever the order of their fields. */
export function saysTheSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined).toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, sorted(field)]));
}
