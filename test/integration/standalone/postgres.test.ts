import { expect } from 'chai';
import pg from 'pg';
import { freshDatabase, startPostgres } from '../../support/servers.ts';

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

describe('the embedded Postgres', () => {
  it('keeps what it committed over kill -9 and comes back at the same port', async () => {
    const postgres = await startPostgres();
    try {
      await ask(postgres.url, 'create table thing as select 7 as n');
      await postgres.kill();
      await postgres.restart();
      expect(await ask(postgres.url, 'select n from thing')).to.deep.equal([{ n: 7 }]);
    } finally {
      await postgres.stop();
    }
  });

  it('gives every test a database of its own, copied from a template that is prepared once', async () => {
    let preparations = 0;
    const prepare = {
      name: 'thing',
      run: async (url: string) => {
        preparations += 1;
        await ask(url, 'create table thing (n int)');
      },
    };
    const first = await freshDatabase(prepare);
    const second = await freshDatabase(prepare);
    try {
      await ask(first.url, 'insert into thing values (1)');
      expect(await ask(first.url, 'select n from thing')).to.have.length(1);
      expect(await ask(second.url, 'select n from thing')).to.have.length(0);
      expect(preparations).to.equal(1);
    } finally {
      await first.drop();
      await second.drop();
    }
  });
});
