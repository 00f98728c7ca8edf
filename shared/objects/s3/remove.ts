import { AbortMultipartUploadCommand, DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { bounded, type Bucket } from './client.ts';
import { unlessS3 } from './s3-error.ts';

/** Names in one answer of a listing; S3 gives no more. */
const PAGE_SIZE = 1_000;

/** An object of the bucket as a listing names it. */
export type ListedName = { readonly name: string; readonly size_bytes: number; readonly modified_at_ms: number };

/** Every object whose name starts so. */
export async function* listNames(bucket: Bucket, prefix: string): AsyncGenerator<ListedName> {
  for (let next: string | undefined, isFirst = true; isFirst || next !== undefined; isFirst = false) {
    const command = new ListObjectsV2Command({ Bucket: bucket.name, Prefix: prefix, MaxKeys: PAGE_SIZE, ...(next === undefined ? {} : { ContinuationToken: next }) });
    const page = await bucket.client.send(command, bounded());
    for (const { Key, Size, LastModified } of page.Contents ?? []) {
      if (Key !== undefined) yield { name: Key, size_bytes: Size ?? 0, modified_at_ms: LastModified?.getTime() ?? 0 };
    }
    next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  }
}

/** Removes an object; does nothing when there is none. */
export async function removeName(bucket: Bucket, name: string): Promise<void> {
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: name }), bounded());
}

/** Drops an upload in parts with all its parts; does nothing when it is not open any more. */
export async function dropUpload(bucket: Bucket, name: string, uploadId: string): Promise<void> {
  await unlessS3(['NoSuchUpload'], bucket.client.send(new AbortMultipartUploadCommand({ Bucket: bucket.name, Key: name, UploadId: uploadId }), bounded()));
}
