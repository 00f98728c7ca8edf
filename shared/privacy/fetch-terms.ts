import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { Header } from '../egress/header-rules.ts';
import { Defect } from '../errors/errors.ts';
import { open, seal } from './seal.ts';

/** What the file of a job is fetched with. Both may hold secrets: a signed URL is one as much as a header is. */
export type FetchTerms = { readonly url: string; readonly headers: readonly Header[] };

const termsSchema = z.object({ url: z.string(), headers: z.array(z.tuple([z.string(), z.string()])) });

/** Seals URL and headers under the key that `fetchKeyName` names; they lie so in `job.created` (§8 URL import rule 2). */
export function sealFetchTerms(key: KeyObject, organizationId: string, jobId: string, terms: FetchTerms): string {
  return seal(key, terms, associatedData(organizationId, jobId));
}

/** Opens them again. Throws `Defect` when they were altered, moved to another job, or are not of our making. */
export function openFetchTerms(key: KeyObject, organizationId: string, jobId: string, sealed: string): FetchTerms {
  const parsed = termsSchema.safeParse(open(key, sealed, associatedData(organizationId, jobId)));
  if (!parsed.success) throw new Defect('what a file is fetched with has an unknown shape', { cause: parsed.error });
  return parsed.data;
}

function associatedData(organizationId: string, jobId: string): string {
  return `${organizationId}|${jobId}|headers`;
}
