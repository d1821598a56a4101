import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fetchSource } from '../../../../../src/resources/videos/uploads/fetch-source.ts';
import { testTempDir } from '../../../../support/temp-dir.ts';

test('a server that changes the protocol ends the transfer', async () => {
  const server = createServer(socket => {
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    );
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  onTestFinished(() => void server.close());
  await promise;
  const { port } = server.address() as AddressInfo;
  const fetched = fetchSource(`http://127.0.0.1:${port}/film.mp4`, join(await testTempDir(), 'film'), {
    allowPrivateTargets: true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    stallTimeoutMs: 60_000,
    minRate: { bytesPerSecond: 0, windowMs: 60_000 },
    maxBytes: 1_000,
    checkRoom: async () => {},
    signal: new AbortController().signal,
    report: () => {},
  });
  await expect(fetched).rejects.toThrow('the server closed the connection');
});
