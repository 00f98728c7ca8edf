import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { keepRunning, type Kept } from './keep-running.ts';
import { startNatsServer, type NatsServer } from './nats-server.ts';
import { describeRefusal, NATS_SERVER_FLOOR, searchNatsServer } from './nats-version.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';
import { keepSecret } from './private-file.ts';

const makePassword = (): string => randomBytes(24).toString('hex');

/** Starts the nats-server of the data folder and keeps it running at the same ports, so that clients find it again. */
export async function keepNatsServer(dataFolder: string, configured: string | undefined, say: (line: string) => void): Promise<Kept<NatsServer>> {
  const { use, refused } = await searchNatsServer(configured);
  if (use === undefined) {
    throw new Error([...refused.map(describeRefusal), `There is no nats-server ${NATS_SERVER_FLOOR} or later. Run: npm run setup`].join('\n'));
  }
  const credentials = { user: 'standalone', password: await keepSecret(join(dataFolder, 'nats.password'), makePassword) };
  let ports = { port: 0, monitorPort: 0 };
  const launch = async (): Promise<NatsServer> => {
    const server = await startNatsServer({ binary: use.path, folder: join(dataFolder, 'nats'), ...ports, credentials });
    ports = { port: server.port, monitorPort: server.monitorPort };
    return server;
  };
  return keepRunning({ name: 'nats-server', launch, say });
}

/** Starts the Postgres of the data folder and keeps it running at one port. */
export async function keepPostgres(dataFolder: string, say: (line: string) => void): Promise<Kept<PostgresServer>> {
  const password = await keepSecret(join(dataFolder, 'postgres.password'), makePassword);
  let port = 0;
  const launch = async (): Promise<PostgresServer> => {
    const server = await startPostgres({ folder: join(dataFolder, 'postgres'), port, user: 'standalone', password, database: 'standalone' });
    port = server.port;
    return server;
  };
  return keepRunning({ name: 'postgres', launch, say });
}
