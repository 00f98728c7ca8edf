import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can keep the answers of a server to itself: to a client they are lost on the way. */
export type CuttingProxy = {
  readonly port: number;
  /** From now on answers are swallowed; requests still arrive. */
  readonly swallowAnswers: () => void;
  /** Cuts every connection and behaves again. */
  readonly cut: () => void;
  readonly stop: () => Promise<void>;
};

/** Starts a proxy on a port that the system chooses, in front of a server on this machine. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let swallowing = false;
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A cut connection ends with an error on either side, which is what the test wants.
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    track(client);
    track(upstream);
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      if (!swallowing) client.write(chunk);
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    swallowing = false;
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    swallowAnswers: () => (swallowing = true),
    cut,
    stop: async () => {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
