import { createServer } from 'node:net';
import { waitFor } from './processes.ts';

/** A predecessor that was killed leaves an api that needs a moment to end. */
const FREE_LIMIT_MS = 5_000;

/**
 * Waits until nobody listens on a port.
 * @throws Error that says what to do.
 */
export async function requireFreePort(port: number): Promise<void> {
  try {
    await waitFor(`port ${port} to become free`, FREE_LIMIT_MS, async () => (await isFree(port)) || undefined);
  } catch (error) {
    throw new Error(`Port ${port} is in use by another program. Stop it, or set PORT to another one.`, { cause: error });
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
