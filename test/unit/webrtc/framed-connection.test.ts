import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { FramedConnection } from '../../../src/webrtc/ice/framed-connection.ts';
import { waitUntil } from '../../support/wait-until.ts';

test('a client that does not read is congested, and costs a bounded amount of memory', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.pause();
  const [socket] = (await once(server, 'connection')) as [Socket];
  let isClosed = false;
  const events = {
    packet: () => {},
    closed: () => {
      isClosed = true;
    },
  };
  const connection = new FramedConnection(socket, events, 0);
  expect(connection.isCongested).toBe(false);
  // Exceeds the buffers of the system.
  for (let count = 0; count < 20_000; count++) connection.send(Buffer.alloc(1_200));
  expect(connection.isCongested).toBe(true);
  expect(socket.writableLength).toBeLessThan(1024 * 1024 + 2_000);
  client.resume();
  await waitUntil(() => !connection.isCongested);
  client.pause();
  for (let count = 0; count < 20_000; count++) connection.send(Buffer.alloc(1_200));
  connection.close();
  await waitUntil(() => isClosed);
  client.destroy();
  server.close();
});
