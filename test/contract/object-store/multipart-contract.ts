import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { composeEtag } from '../../../shared/objects/composed-etag.ts';
import { IncompleteBodyError, MultipartNotFoundError, ObjectExistsError, ObjectTooLargeError, PartMismatchError } from '../../../shared/objects/errors.ts';
import { resultKey, sourceKey, type ObjectKey } from '../../../shared/objects/keys.ts';
import type { NamedPart, ObjectStore, StoredPart } from '../../../shared/objects/object-store.ts';
import { expectFailure } from '../../support/expect-failure.ts';

/** S3 takes no smaller part than this, but for the last. */
const PART_BYTES = 5 * 2 ** 20;
const LAST_PART_BYTES = 1000;
const LIMITS = { maxBytes: 2 * PART_BYTES };

/** What every object store does with uploads in parts (§4.4); part of the behaviour suite of the port. */
export function describeMultipart(given: () => ObjectStore): void {
  const first = randomBytes(PART_BYTES);
  const last = randomBytes(LAST_PART_BYTES);

  async function put(key: ObjectKey, partNumber: number, bytes: Buffer): Promise<StoredPart> {
    const store = given();
    return await store.writePart(key, await store.openMultipart(key), { partNumber, sizeBytes: bytes.length }, Readable.from([bytes]));
  }

  /** Both parts, as their uploads answered. */
  async function putBoth(key: ObjectKey): Promise<readonly StoredPart[]> {
    return [await put(key, 1, first), await put(key, 2, last)];
  }

  async function content(key: ObjectKey): Promise<Buffer> {
    return await buffer(await given().read(key));
  }

  it('has one open upload for a source, however many open it at once', async () => {
    const key = sourceKey(randomUUID());
    const opened = await Promise.all(Array.from({ length: 6 }, () => given().openMultipart(key)));
    // Those that raced may have to settle first; from then on there is one.
    const settled = await given().openMultipart(key);
    expect(opened).to.include(settled);
    expect(await given().openMultipart(key)).to.equal(settled);
    expect(await given().openMultipart(sourceKey(randomUUID()))).to.not.equal(settled);
    await given().abortMultipart(key);
  });

  it('knows the parts that were sent, by number, and takes the latest of each', async () => {
    const key = sourceKey(randomUUID());
    expect(await given().listParts(key)).to.deep.equal([]);
    const second = await put(key, 2, last);
    await put(key, 1, randomBytes(PART_BYTES));
    const replaced = await put(key, 1, first);
    expect(second).to.deep.equal({ part_number: 2, size_bytes: LAST_PART_BYTES, etag: md5(last) });
    expect(await given().listParts(key)).to.deep.equal([{ ...replaced, etag: md5(first) }, second]);
    expect(await given().head(key), 'no object before it is completed').to.equal(undefined);
    expect(await given().hasUpload(key)).to.equal(false);
    await given().abortMultipart(key);
  });

  it('leaves nothing of a part that is shorter or longer than said', async () => {
    const key = sourceKey(randomUUID());
    const uploadId = await given().openMultipart(key);
    const part = { partNumber: 1, sizeBytes: 100 };
    await expectFailure(given().writePart(key, uploadId, part, Readable.from([Buffer.alloc(99)])), IncompleteBodyError);
    await expectFailure(given().writePart(key, uploadId, part, Readable.from([Buffer.alloc(101)])), ObjectTooLargeError);
    expect(await given().listParts(key)).to.deep.equal([]);
    await given().abortMultipart(key);
  });

  it('makes one object of the parts, with the entity tag that S3 would give it', async () => {
    const key = sourceKey(randomUUID());
    const parts = await putBoth(key);
    const head = await given().completeMultipart(key, parts);
    const tag = createHash('md5').update(Buffer.from(md5(first) + md5(last), 'hex')).digest('hex');
    expect(head).to.deep.equal({ size_bytes: PART_BYTES + LAST_PART_BYTES, etag: `${tag}-2` });
    expect(await given().head(key)).to.deep.equal(head);
    expect(composeEtag(parts)).to.equal(head.etag);
    expect((await content(key)).equals(Buffer.concat([first, last]))).to.equal(true);
    expect(await given().listParts(key), 'the parts are gone').to.deep.equal([]);
    expect(await given().hasUpload(key)).to.equal(true);
    expect(await given().bindUpload(key, LIMITS)).to.deep.equal(head);
  });

  it('answers a repeated completion as before, one after the other and at once (D45)', async () => {
    const key = sourceKey(randomUUID());
    const parts = await putBoth(key);
    const heads = await Promise.all([given().completeMultipart(key, parts), given().completeMultipart(key, parts)]);
    const again = await given().completeMultipart(key, parts);
    expect([...heads, again]).to.deep.equal([again, again, again]);
  });

  it('assembles nothing when a part is missing or another, and then still can', async () => {
    const key = sourceKey(randomUUID());
    const one = await put(key, 1, first);
    const wanted: readonly NamedPart[] = [one, { part_number: 2, etag: md5(last) }];
    await expectFailure(given().completeMultipart(key, wanted), PartMismatchError);
    await put(key, 2, Buffer.from('another'));
    await expectFailure(given().completeMultipart(key, wanted), PartMismatchError);
    expect(await given().head(key)).to.equal(undefined);
    await put(key, 2, last);
    expect((await given().completeMultipart(key, wanted)).size_bytes).to.equal(PART_BYTES + LAST_PART_BYTES);
  });

  it('drops an aborted upload: its parts, its id, and parts that come later', async () => {
    const key = sourceKey(randomUUID());
    const uploadId = await given().openMultipart(key);
    const parts = await putBoth(key);
    await given().abortMultipart(key);
    await given().abortMultipart(key);
    expect(await given().listParts(key)).to.deep.equal([]);
    await expectFailure(given().completeMultipart(key, parts), MultipartNotFoundError);
    await expectFailure(given().writePart(key, uploadId, { partNumber: 1, sizeBytes: last.length }, Readable.from([last])), MultipartNotFoundError);
    const next = await given().openMultipart(key);
    expect(next).to.not.equal(uploadId);
    await expectFailure(given().writePart(key, uploadId, { partNumber: 1, sizeBytes: last.length }, Readable.from([last])), MultipartNotFoundError);
    expect(await given().listParts(key)).to.deep.equal([]);
    await given().abortMultipart(key);
  });

  it('keeps the object when a completed upload is aborted', async () => {
    const key = sourceKey(randomUUID());
    const part = await put(key, 1, last);
    const head = await given().completeMultipart(key, [part]);
    await given().abortMultipart(key);
    expect(await given().head(key)).to.deep.equal(head);
  });

  it('lets the file that is whole first win over an upload in parts (D46)', async () => {
    const key = sourceKey(randomUUID());
    const part = await put(key, 1, last);
    await given().write(key, Readable.from([Buffer.from('single')]), LIMITS);
    await expectFailure(given().completeMultipart(key, [part]), ObjectExistsError);
    expect((await content(key)).toString()).to.equal('single');
    await given().abortMultipart(key);
  });

  it('lets an assembled file win over a single upload that comes later (D46)', async () => {
    const key = sourceKey(randomUUID());
    const head = await given().completeMultipart(key, [await put(key, 1, last)]);
    await expectFailure(given().write(key, Readable.from([Buffer.from('single')]), LIMITS), ObjectExistsError);
    expect(await given().bindUpload(key, LIMITS)).to.deep.equal(head);
  });

  it('binds a single upload once, and nothing when there is none', async () => {
    const key = sourceKey(randomUUID());
    expect(await given().bindUpload(key, LIMITS)).to.equal(undefined);
    await given().write(key, Readable.from([last]), LIMITS);
    const head = await given().bindUpload(key, LIMITS);
    expect(head).to.deep.equal({ size_bytes: LAST_PART_BYTES, etag: md5(last) });
    expect(await given().bindUpload(key, LIMITS)).to.deep.equal(head);
    expect(await given().head(key)).to.deep.equal(head);
  });

  it('signs the same link for the same part, and another for another', async () => {
    const key = sourceKey(randomUUID());
    const uploadId = await given().openMultipart(key);
    const terms = { partNumber: 1, sizeBytes: 10, expiresAtMs: 1_900_000_000_000 };
    const link = await given().signPart(key, uploadId, terms);
    expect(await given().signPart(key, uploadId, terms)).to.equal(link);
    for (const other of [{ partNumber: 2 }, { sizeBytes: 11 }, { expiresAtMs: 1_900_000_060_000 }]) {
      expect(await given().signPart(key, uploadId, { ...terms, ...other })).to.not.equal(link);
    }
    await given().abortMultipart(key);
  });

  it('removes open uploads with the sources, and only then', async () => {
    const key = sourceKey(randomUUID());
    const part = await put(key, 1, last);
    await given().remove(key);
    expect(await given().listParts(key)).to.deep.equal([part]);
    await given().removePrefix('source/');
    expect(await given().listParts(key)).to.deep.equal([]);
  });

  it('takes no parts of results', async () => {
    expect(await given().openMultipart(resultKey(randomUUID(), 1)).then(() => 'opened', () => 'refused')).to.equal('refused');
  });
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}
