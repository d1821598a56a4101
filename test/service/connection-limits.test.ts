import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startIngest } from '../support/ingest-client.ts';
import { startApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

const perAddress = { maxPerAddress: 2, isExempt: (address: string) => address === '127.0.0.2' };

/** Opens a connection from one of the loopback addresses. */
async function open(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket.resume();
}

async function expectCap(port: number, openCount: () => number): Promise<void> {
  const kept = await open(port, '127.0.0.1');
  const left = await open(port, '127.0.0.1');
  await waitUntil(() => openCount() === 2);
  const refused = await open(port, '127.0.0.1');
  await waitUntil(() => refused.destroyed);
  expect([kept.destroyed, left.destroyed]).toEqual([false, false]);
  // A trusted proxy has no limit, and others have their own.
  for (const address of ['127.0.0.2', '127.0.0.2', '127.0.0.2', '127.0.0.3']) await open(port, address);
  await waitUntil(() => openCount() === 6);
  left.destroy();
  await waitUntil(() => openCount() === 5);
  const again = await open(port, '127.0.0.1');
  await waitUntil(() => openCount() === 6);
  expect([kept.destroyed, again.destroyed]).toEqual([false, false]);
}

describe('connections beyond the maximum of an address', () => {
  it('are closed over HTTP', async () => {
    const server = await startApi({ perAddress });
    onTestFinished(() => server.stop());
    await expectCap(server.listener.httpPort, () => server.listener.openConnections);
  });

  it('are closed over RTMP', async () => {
    const door = await startIngest({ perAddress });
    onTestFinished(() => door.server.stop());
    const openCount = () => {
      const closed = [...door.counts].filter(([what]) => what.startsWith('closed '));
      return closed.reduce((open, [, count]) => open - count, door.counts.get('opened') ?? 0);
    };
    await expectCap(door.port, openCount);
    expect(door.counts.get('refused too-many-connections-of-address')).toBe(1);
  });
});
