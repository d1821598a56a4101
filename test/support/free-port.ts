import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Finds a port for programs that cannot choose one themselves: below those that the system gives to connections and to servers that
 * ask for any, so that nothing else takes it before its program has it, or while that is stopped.
 */
export async function freePort(): Promise<number> {
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
