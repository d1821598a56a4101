import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { withReadBuffer } from '../../src/shared/network/read-buffer.ts';
import { waitUntil } from '../support/wait-until.ts';

async function connection() {
  const received: Buffer[] = [];
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer({ pauseOnConnect: true }, socket =>
    accepted.resolve(withReadBuffer(socket, data => received.push(Buffer.from(data)))),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = connect(address.port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const socket = await accepted.promise;
  return { server, client, socket, bytes: () => Buffer.concat(received) };
}

test('reads everything in order, however much comes at once, and answers', async () => {
  const { client, socket, bytes } = await connection();
  const sent = Buffer.from(
    Array.from({ length: 1_000_000 }, (_, index) => (index * 7 + (index >> 8)) & 0xff),
  );
  client.write(sent);
  socket.resume();
  await waitUntil(() => bytes().length === sent.length);
  expect(bytes().equals(sent)).toBe(true);
  socket.write('answer');
  expect(String((await once(client, 'data'))[0])).toBe('answer');
  expect(socket.remoteAddress).toBe('127.0.0.1');
});

test('stops reading while paused', async () => {
  const { client, socket, bytes } = await connection();
  socket.resume();
  client.write('first');
  await waitUntil(() => bytes().length === 5);
  socket.pause();
  // Exceeds all buffers between the two: it cannot be sent while nothing is read.
  client.write(Buffer.alloc(32 * 1024 * 1024));
  await waitUntil(() => client.writableLength > 0);
  expect(bytes().length).toBe(5);
  socket.resume();
  await waitUntil(() => bytes().length === 5 + 32 * 1024 * 1024);
});

test('ends with the peer, and the server then counts no connection', async () => {
  const { server, client, socket } = await connection();
  socket.resume();
  const closed = once(socket, 'close');
  const ended = once(socket, 'end');
  client.end();
  await ended;
  await closed;
  server.close();
  await once(server, 'close');
});

test('reports a connection that is reset', async () => {
  const { client, socket } = await connection();
  const failed = once(socket, 'error');
  socket.resume();
  client.resetAndDestroy();
  expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
});
