import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { loadSettings } from '../../../shared/config/load.ts';
import { TransientError } from '../../../shared/errors/errors.ts';
import { resultKey, sourceKey } from '../../../shared/objects/keys.ts';
import type { ObjectStore } from '../../../shared/objects/object-store.ts';
import { OBJECT_SETTINGS } from '../../../shared/objects/open-store.ts';
import { openS3Store } from '../../../shared/objects/s3/s3-store.ts';
import { expectFailure } from '../../support/expect-failure.ts';

const SECRET = 'the-secret-access-key';

/** What a server says that is no S3 store, or one in trouble. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'the error page of a proxy': (response) => response.writeHead(502, { 'Content-Type': 'text/html' }).end('<html><body><h1>502 Bad Gateway</h1><hr></body></html>'),
  'an error that is cut off': (response) => response.writeHead(503, { 'Content-Type': 'application/xml' }).end('<?xml version="1.0"?><Error><Code>Slow'),
  'a refusal': (response) => response.writeHead(403, { 'Content-Type': 'application/xml' }).end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${SECRET}</Message></Error>`),
  'no bucket': (response) => response.writeHead(404, { 'Content-Type': 'application/xml' }).end('<Error><Code>NoSuchBucket</Code></Error>'),
  'nothing, and the line cut': (response) => response.destroy(),
};

describe('A store that answers otherwise than S3', function () {
  this.timeout(60_000);
  let server: Server;
  let store: ObjectStore;
  let answer: (response: ServerResponse) => void = endEmpty;

  before(async () => {
    server = createServer((request, response) => {
      request.resume();
      answer(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    const common = { bucket: 'files', region: 'us-east-1', publicEndpoint: undefined, accessKeyId: 'key', secretAccessKey: SECRET, forcePathStyle: true };
    store = openS3Store({ ...common, endpoint: `http://127.0.0.1:${address.port}`, spoolFolder: tmpdir(), lifetimes: loadSettings({}, OBJECT_SETTINGS) });
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  for (const [name, say] of Object.entries(ANSWERS)) {
    it(`is an outage to us when it answers ${name}, and what it says is not repeated`, async () => {
      answer = say;
      const [source, result] = [sourceKey(randomUUID()), resultKey(randomUUID(), 1)];
      const failures = await Promise.all([
        expectFailure(store.read(result), TransientError),
        expectFailure(store.write(result, Readable.from([Buffer.from('x')]), { maxBytes: 10 }), TransientError),
        expectFailure(store.bindUpload(source, { maxBytes: 10 }), TransientError),
        expectFailure(store.hasUpload(source), TransientError),
        expectFailure(store.openMultipart(source), TransientError),
        expectFailure(store.probe(), TransientError),
      ]);
      for (const { message, cause, dependency } of failures) {
        expect(dependency).to.equal('storage');
        expect(`${message} ${String(cause)}`).to.not.contain(SECRET).and.not.contain('127.0.0.1').and.not.contain(source);
      }
    });
  }

  it('is an outage to us when an object is shorter than was said', async () => {
    answer = (response) => {
      response.writeHead(200, { 'Content-Length': '10', ETag: '"0123456789abcdef0123456789abcdef"' });
      response.write('12345', () => response.destroy());
    };
    await expectFailure(store.read(resultKey(randomUUID(), 1)).then((stream) => buffer(stream)), TransientError);
  });
});

function endEmpty(response: ServerResponse): void {
  response.end();
}
