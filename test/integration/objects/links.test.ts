import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { resultKey, sourceKey } from '../../../shared/objects/keys.ts';
import { fileLinkKey, signLink, verifyLink, type FileLink, type LinkRequest } from '../../../shared/objects/links.ts';
import { openMasterKey } from '../../../shared/privacy/master-key.ts';

const EXPIRES_AT_MS = 1_900_000_000_000;
const key = fileLinkKey(openMasterKey(Buffer.alloc(32, 1).toString('base64')));
const jobId = randomUUID();
const upload: FileLink = { operation: 'upload', key: sourceKey(jobId), expiresAtMs: EXPIRES_AT_MS, maxBytes: 100 };
const part: FileLink = { operation: 'part', key: sourceKey(jobId), uploadId: randomUUID(), partNumber: 2, sizeBytes: 50, expiresAtMs: EXPIRES_AT_MS };
const download: FileLink = {
  operation: 'download',
  key: resultKey(jobId, 1),
  expiresAtMs: EXPIRES_AT_MS,
  contentType: 'image/svg+xml',
  disposition: `attachment; filename="a b&c=d.svg"; filename*=UTF-8''%E2%82%AC.svg`,
};

function requestOf(link: FileLink, changes: Partial<LinkRequest> = {}): LinkRequest {
  const [path = '', query = ''] = signLink(key, link).split('?');
  return { method: link.operation === 'download' ? 'GET' : 'PUT', path, query, nowMs: EXPIRES_AT_MS - 1, ...changes };
}

function withParameter(link: FileLink, name: string, value: string): LinkRequest {
  const query = new URLSearchParams(requestOf(link).query);
  query.set(name, value);
  return requestOf(link, { query: query.toString() });
}

describe('a file link', () => {
  it('has the path of its key and nothing else that names the file', () => {
    expect(requestOf(upload).path).to.equal(`/files/source/${jobId}`);
    expect(requestOf(part).path).to.equal(`/files/source/${jobId}/parts/2`);
    expect(requestOf(download).path).to.equal(`/files/result/${jobId}/1`);
  });

  it('gives back what was signed', () => {
    expect(verifyLink(key, requestOf(upload))).to.deep.equal(upload);
    expect(verifyLink(key, requestOf(part))).to.deep.equal(part);
    expect(verifyLink(key, requestOf(download))).to.deep.equal(download);
    expect(verifyLink(key, requestOf(download, { method: 'HEAD' }))).to.deep.equal(download);
  });

  it('works until the millisecond before its end', () => {
    expect(verifyLink(key, requestOf(upload, { nowMs: EXPIRES_AT_MS }))).to.equal('expired');
    expect(verifyLink(key, requestOf(download, { nowMs: EXPIRES_AT_MS + 1 }))).to.equal('expired');
  });

  const forgeries: readonly (readonly [string, LinkRequest])[] = [
    ['a GET of an upload link', requestOf(upload, { method: 'GET' })],
    ['a PUT to a download link', requestOf(download, { method: 'PUT' })],
    ['another method', requestOf(download, { method: 'POST' })],
    ['a method in lower case', requestOf(download, { method: 'get' })],
    ['another job', requestOf(upload, { path: `/files/source/${randomUUID()}` })],
    ['another attempt', requestOf(download, { path: `/files/result/${jobId}/2` })],
    ['another kind of object', requestOf(download, { path: `/files/source/${jobId}` })],
    ['a path with a detour', requestOf(upload, { path: `/files/source/../source/${jobId}` })],
    ['a percent-encoded path', requestOf(upload, { path: `/files/source%2F${jobId}` })],
    ['upper case in the id', requestOf(upload, { path: `/files/source/${jobId.toUpperCase()}` })],
    ['another spelling of the attempt', requestOf(download, { path: `/files/result/${jobId}/01` })],
    ['a slash at the end', requestOf(upload, { path: `/files/source/${jobId}/` })],
    ['a later expiry', withParameter(upload, 'expires', String(EXPIRES_AT_MS + 1))],
    ['an expiry that is no number', withParameter(upload, 'expires', '1e99')],
    ['a higher limit', withParameter(upload, 'max_bytes', '101')],
    ['another Content-Type', withParameter(download, 'content_type', 'text/html')],
    ['another disposition', withParameter(download, 'disposition', 'inline')],
    ['a part under another number', requestOf(part, { path: `/files/source/${jobId}/parts/3` })],
    ['another spelling of the part', requestOf(part, { path: `/files/source/${jobId}/parts/02` })],
    ['a part number too long to be one', requestOf(part, { path: `/files/source/${jobId}/parts/100000` })],
    ['a part of another job', requestOf(part, { path: `/files/source/${randomUUID()}/parts/2` })],
    ['a part of a result', requestOf(part, { path: `/files/result/${jobId}/parts/2` })],
    ['a GET of a part', requestOf(part, { method: 'GET' })],
    ['another size of a part', withParameter(part, 'size_bytes', '51')],
    ['a part of another upload', withParameter(part, 'upload', randomUUID())],
    ['a later expiry of a part', withParameter(part, 'expires', String(EXPIRES_AT_MS + 1))],
    ['a part link as single upload', requestOf(part, { path: `/files/source/${jobId}` })],
    ['a single upload link as part', requestOf(upload, { path: `/files/source/${jobId}/parts/1` })],
    ['a further parameter', withParameter(download, 'x', 'y')],
    ['a parameter of the other kind of link', withParameter(download, 'max_bytes', '100')],
    ['a repeated parameter', requestOf(upload, { query: `${requestOf(upload).query}&max_bytes=100` })],
    ['an empty signature', withParameter(upload, 'signature', '')],
    ['a signature of zeros', withParameter(upload, 'signature', 'A'.repeat(43))],
    ['a cut signature', requestOf(upload, { query: requestOf(upload).query.slice(0, -1) })],
    ['no query', requestOf(upload, { query: '' })],
    ['a huge query', requestOf(upload, { query: `${requestOf(upload).query}&x=${'y'.repeat(100_000)}` })],
  ];
  for (const [name, request] of forgeries) {
    it(`is forged with ${name}`, () => {
      expect(verifyLink(key, request)).to.equal('forged');
    });
  }

  it('is forged when another key signed it, also after its end', () => {
    const other = fileLinkKey(openMasterKey(Buffer.alloc(32, 2).toString('base64')));
    expect(verifyLink(other, requestOf(upload))).to.equal('forged');
    expect(verifyLink(other, requestOf(upload, { nowMs: EXPIRES_AT_MS }))).to.equal('forged');
  });
});
