import { expect } from 'chai';
import type { JobView } from '../../../shared/domain/job-view.ts';
import { tasksOf, TestClient } from '../../support/client.ts';
import { openOperator, type TestOperator } from '../../support/organization.ts';
import { startSecondApi, type SecondApi } from '../../support/second-api.ts';
import { sharedService, type TestService } from '../../support/service.ts';

type List = { readonly data: readonly JobView[]; readonly total: number };

/** Enough for a race of a millisecond to show itself. */
const ROUNDS = 15;

async function balanceOf(client: TestClient): Promise<number> {
  return (await client.send<{ credits: { balance: number } }>('GET', '/v1/me')).body.credits.balance;
}

describe('What one api process has written, another one lists at once (D49)', function () {
  this.timeout(180_000);
  let service: TestService;
  let operator: TestOperator;
  let second: SecondApi;

  before(async () => {
    service = await sharedService();
    operator = await openOperator(service);
    second = await startSecondApi(service);
  });
  after(async () => {
    await second.stop();
    await operator.stop();
  });

  async function newClients(credits: number): Promise<readonly [TestClient, TestClient]> {
    const { secret } = await (await operator.newOrganization(credits)).newKey('live');
    return [new TestClient(service.baseUrl, secret), new TestClient(second.baseUrl, secret)];
  }

  it('every job that was created, cancelled or deleted', async () => {
    const clients = await newClients(100);
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [writer, reader] = round % 2 === 0 ? clients : [clients[1], clients[0]];
      const job = await writer.createJob(tasksOf('jpg', 'png'), { tag: `round ${round}` });
      ids.unshift(job.id);
      const { body } = await reader.send<List>('GET', '/v1/jobs');
      expect([body.total, body.data.map(({ id }) => id)], `round ${round}`).to.deep.equal([ids.length, ids]);
      await writer.send('POST', `/v1/jobs/${job.id}/cancel`);
      expect((await reader.send<List>('GET', '/v1/jobs?status=cancelled')).body.total).to.equal(round + 1);
    }
    const [gone = ''] = ids;
    await clients[0].send('DELETE', `/v1/jobs/${gone}`);
    expect((await clients[1].send<List>('GET', '/v1/jobs?tag=round%2014')).body).to.deep.include({ total: 0, data: [] });
  });

  it('and what a job holds, or has given back, is in the balance (§2.7, D28)', async () => {
    const [one, other] = await newClients(10);
    for (let round = 0; round < ROUNDS; round += 1) {
      const job = await one.createJob(tasksOf('jpg', 'png'));
      expect(await balanceOf(other)).to.equal(9);
      await one.send('POST', `/v1/jobs/${job.id}/cancel`);
      expect(await balanceOf(other)).to.equal(10);
    }
  });
});
