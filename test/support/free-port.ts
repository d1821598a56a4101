import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Finds a port for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/** Finds a port below those that the system gives to connections, so that nothing takes it while its server is stopped. */
export async function lowPort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(10_000, 32_000);
    const server = createServer();
    const isFree = await new Promise(resolve => {
      server.once('error', () => resolve(false)).listen(port, () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('no free port');
}
