import { request } from 'node:http';
import { expect } from 'chai';
import type { ErrorBody } from '../../support/client.ts';
import { sharedService, type TestService } from '../../support/service.ts';

const MIB = 2 ** 20;

describe('A body that does not say its length and is not JSON', function () {
  this.timeout(120_000);
  let service: TestService;

  before(async () => {
    service = await sharedService();
  });

  /** Sends so many bytes in chunks; the answer's status and error. */
  function post(bytes: number): Promise<{ status: number | undefined; error: ErrorBody['error'] }> {
    return new Promise((resolve, reject) => {
      const headers = { 'X-API-Key': service.testKey, 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked' };
      const outgoing = request(`${service.baseUrl}/v1/jobs`, { method: 'POST', headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.once('end', () => resolve({ status: response.statusCode, error: (JSON.parse(text) as ErrorBody).error }));
      });
      outgoing.once('error', reject);
      outgoing.end('x'.repeat(bytes));
    });
  }

  it('is refused for its size first, and only then for its type (D1, D76)', async () => {
    const over = await post(MIB + 1);
    expect([over.status, over.error.details]).to.deep.equal([413, { reason: 'body_too_large', max_bytes: MIB }]);
    const within = await post(MIB);
    expect([within.status, within.error.code]).to.deep.equal([400, 'validation_failed']);
  });
});
