import { GetObjectCommand, PutObjectCommand, UploadPartCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Settings } from '../../config/settings.ts';
import { ConfigurationError } from '../../errors/errors.ts';
import type { DownloadTerms, PartSize, UploadTerms } from '../object-store.ts';

/** S3 takes a signature for seven days at most, in seconds. */
const SIGNATURE_SECONDS_MAX = 7 * 86_400;
/** Signatures of uploads get no older than this, in seconds, where no upload link works longer: a bucket policy can demand it. */
const UPLOAD_SIGNATURE_SECONDS = 3_600;

/** Settings that say how long links work at most, in seconds. */
const LIFETIMES = ['UPLOAD_URL_TTL_SECONDS', 'PART_URL_TTL_SECONDS', 'RESULT_TTL_SECONDS'] as const;

/** How long links work at most. */
export type LinkLifetimes = Settings<(typeof LIFETIMES)[number]>;

/** Signs links for the address under which clients reach the store. Nothing is sent. */
export type Signer = {
  readonly client: S3Client;
  readonly bucket: string;
  /** From the beginning of an upload link to its end. */
  readonly uploadSeconds: number;
};

/** URL that takes PUTs of any length until it expires: S3 cannot bound them (D91). */
export async function signPut(signer: Signer, name: string, terms: Pick<UploadTerms, 'expiresAtMs'>): Promise<string> {
  const command = new PutObjectCommand({ Bucket: signer.bucket, Key: name });
  return await getSignedUrl(signer.client, command, timesOf(terms.expiresAtMs, signer.uploadSeconds));
}

/** URL that takes PUTs of exactly the part's length until it expires or the upload is closed. */
export async function signPartPut(signer: Signer, name: string, uploadId: string, terms: PartSize & { readonly expiresAtMs: number }): Promise<string> {
  const command = new UploadPartCommand({ Bucket: signer.bucket, Key: name, UploadId: uploadId, PartNumber: terms.partNumber, ContentLength: terms.sizeBytes });
  return await getSignedUrl(signer.client, command, timesOf(terms.expiresAtMs, signer.uploadSeconds));
}

/** URL that answers GET with the type and the disposition that were signed into it. */
export async function signGet(signer: Signer, name: string, terms: DownloadTerms): Promise<string> {
  const command = new GetObjectCommand({ Bucket: signer.bucket, Key: name, ResponseContentType: terms.contentType, ResponseContentDisposition: terms.disposition });
  return await getSignedUrl(signer.client, command, timesOf(terms.expiresAtMs, SIGNATURE_SECONDS_MAX));
}

/** How long the signature of an upload link holds, in seconds. Throws `ConfigurationError` when S3 cannot sign links for so long. */
export function uploadSignatureSeconds(lifetimes: LinkLifetimes): number {
  const problems = LIFETIMES.filter((name) => lifetimes[name] > SIGNATURE_SECONDS_MAX).map((name) => `${name}: must be at most ${SIGNATURE_SECONDS_MAX}, because S3 signs no link for longer`);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const longest = Math.max(lifetimes.UPLOAD_URL_TTL_SECONDS, lifetimes.PART_URL_TTL_SECONDS);
  return longest > UPLOAD_SIGNATURE_SECONDS ? SIGNATURE_SECONDS_MAX : UPLOAD_SIGNATURE_SECONDS;
}

/**
 * A signature holds for a time from its date on. The date follows from the end of the link and not from the clock, so
 * that the same terms give the same URL (D18, D19). Whole seconds: a link may end a little early but never late.
 */
function timesOf(expiresAtMs: number, seconds: number): { readonly signingDate: Date; readonly expiresIn: number } {
  return { signingDate: new Date((Math.floor(expiresAtMs / 1000) - seconds) * 1000), expiresIn: seconds };
}
