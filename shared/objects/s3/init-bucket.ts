import {
  CreateBucketCommand,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketPolicyCommand,
  HeadBucketCommand,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  type BucketLocationConstraint,
} from '@aws-sdk/client-s3';
import { z } from 'zod';
import { corsRules, lifecycleRules, mergeRules, policyStatements, saysTheSame, type KeepTimes, type PolicyStatement } from './bucket-rules.ts';
import { bounded, openClient, openSigningClient, type Bucket, type S3Options } from './client.ts';
import { proveStore } from './prove-store.ts';
import { onS3, s3Status, unlessS3 } from './s3-error.ts';

/** Region in which a bucket is made without naming it. */
const DEFAULT_REGION = 'us-east-1';

/** What was done to one kind of rules of the bucket; some stores do not offer all kinds. */
export type Change = 'written' | 'unchanged' | 'not_offered';

/** Answers of a store that does not offer something. */
const NOT_OFFERED: ReadonlySet<number | undefined> = new Set([405, 501]);

/** What `initBucket` found and did. `problems` are promises that the store does not keep. */
export type InitReport = {
  readonly bucket: string;
  readonly created: boolean;
  readonly lifecycle: Change;
  readonly cors: Change;
  readonly policy: Change;
  readonly problems: readonly string[];
};

const policySchema = z.looseObject({ Version: z.string().optional(), Statement: z.union([z.array(z.looseObject({ Sid: z.string().optional() })), z.looseObject({ Sid: z.string().optional() })]) });

/**
 * Makes a bucket ready for the service: creates it when it is missing, writes our lifecycle, CORS and policy rules beside
 * those that others wrote, and then tries out what the service relies on. Called again it changes nothing. Throws
 * `TransientError` when the store is away or does not allow it.
 */
export async function initBucket(options: S3Options, keep: KeepTimes): Promise<InitReport> {
  const [client, signing] = [openClient(options), openSigningClient({ ...options, publicEndpoint: undefined })];
  const bucket: Bucket = { client, name: options.bucket };
  try {
    return await onS3(async () => ({
      bucket: options.bucket,
      created: await createIfMissing(bucket, options.region),
      lifecycle: await ifOffered(writeLifecycle(bucket, keep)),
      cors: await ifOffered(writeCors(bucket)),
      policy: await ifOffered(writePolicy(bucket)),
      problems: await proveStore(bucket, signing),
    }));
  } finally {
    client.destroy();
    signing.destroy();
  }
}

async function createIfMissing(bucket: Bucket, region: string): Promise<boolean> {
  const found = await unlessS3(['NotFound', 'NoSuchBucket'], bucket.client.send(new HeadBucketCommand({ Bucket: bucket.name }), bounded()));
  if (found) return false;
  // The library knows the regions of AWS by name; other stores have their own.
  const place = region === DEFAULT_REGION ? {} : { CreateBucketConfiguration: { LocationConstraint: region as BucketLocationConstraint } };
  await bucket.client.send(new CreateBucketCommand({ Bucket: bucket.name, ...place }), bounded());
  return true;
}

async function writeLifecycle({ client, name: Bucket }: Bucket, keep: KeepTimes): Promise<Change> {
  const answer = await unlessS3(['NoSuchLifecycleConfiguration'], client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }), bounded()));
  const present = answer?.Rules ?? [];
  const Rules = mergeRules(present, lifecycleRules(keep), (rule) => rule.ID);
  if (isSameSet(present, Rules, (rule) => rule.ID)) return 'unchanged';
  await client.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }), bounded());
  return 'written';
}

async function writeCors({ client, name: Bucket }: Bucket): Promise<Change> {
  const answer = await unlessS3(['NoSuchCORSConfiguration'], client.send(new GetBucketCorsCommand({ Bucket }), bounded()));
  const present = answer?.CORSRules ?? [];
  const CORSRules = mergeRules(present, corsRules(), (rule) => rule.ID);
  if (isSameSet(present, CORSRules, (rule) => rule.ID)) return 'unchanged';
  await client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }), bounded());
  return 'written';
}

async function writePolicy({ client, name: Bucket }: Bucket): Promise<Change> {
  const answer = await unlessS3(['NoSuchBucketPolicy'], client.send(new GetBucketPolicyCommand({ Bucket }), bounded()));
  const policy = answer?.Policy === undefined ? undefined : policySchema.parse(JSON.parse(answer.Policy));
  const present: PolicyStatement[] = policy === undefined ? [] : [policy.Statement].flat();
  const Statement = mergeRules(present, policyStatements(Bucket), (statement) => statement.Sid);
  if (isSameSet(present, Statement, (statement) => statement.Sid)) return 'unchanged';
  await client.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', ...policy, Statement }) }), bounded());
  return 'written';
}

async function ifOffered(work: Promise<Change>): Promise<Change> {
  try {
    return await work;
  } catch (error) {
    if (NOT_OFFERED.has(s3Status(error))) return 'not_offered';
    throw error;
  }
}

/** A store may give its rules in another order than it got them. */
function isSameSet<Rule>(one: readonly Rule[], other: readonly Rule[], nameOf: (rule: Rule) => string | undefined): boolean {
  const ordered = (rules: readonly Rule[]): Rule[] => rules.toSorted((a, b) => ((nameOf(a) ?? '') < (nameOf(b) ?? '') ? -1 : 1));
  return saysTheSame(ordered(one), ordered(other));
}
