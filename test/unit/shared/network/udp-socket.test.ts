import type { Socket } from 'node:dgram';
import { expect, test, vi } from 'vitest';
import { openUdpSocket } from '../../../../src/shared/network/udp-socket.ts';

const sockets = vi.hoisted((): Socket[] => []);

vi.mock(import('node:dgram'), async original => {
  const actual = await original();
  const createSocket = ((options: Parameters<typeof actual.createSocket>[0]) => {
    const socket = actual.createSocket(options);
    sockets.push(socket);
    return socket;
  }) as typeof actual.createSocket;
  return { ...actual, createSocket };
});

test('passes on no datagram of port 0, to which nothing can be sent', async () => {
  const ports: number[] = [];
  const socket = await openUdpSocket({
    host: '127.0.0.1',
    port: 0,
    receive: (_datagram, { port }) => ports.push(port),
    failed: () => {},
  });
  for (const port of [0, 5000]) {
    sockets[0]!.emit('message', Buffer.of(1), { address: '127.0.0.1', family: 'IPv4', port, size: 1 });
  }
  await socket.close();
  expect(ports).toEqual([5000]);
});
