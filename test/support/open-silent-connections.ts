import { connect, type Socket } from 'node:net';

// Run as a process of its own (it needs a file descriptor for each): opens `count` connections to `port`, says so, and holds
// them without a word until it is killed. Arguments: port, count.
const [port, count] = process.argv.slice(2).map(Number) as [number, number];
const atOnce = 200;
const sockets: Socket[] = [];

async function openOne(): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  sockets.push(socket);
  socket.on('error', error => {
    throw error;
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once('connect', () => resolve());
  await promise;
}

while (sockets.length < count) {
  await Promise.all(Array.from({ length: Math.min(atOnce, count - sockets.length) }, openOne));
}
process.stdout.write('open\n');
