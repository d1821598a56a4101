/**
 * A server of `node:http` alone that writes each body to one file: what uploads are compared with. Started with one argument, the path of
 * the file in JSON; sends its port, and ends when it is told to stop.
 */
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

const path = JSON.parse(process.argv[2]!) as string;
const server = createServer(async (request, response) => {
  await pipeline(request, createWriteStream(path));
  response.writeHead(201).end('{}');
});
server.listen({ host: '127.0.0.1', port: 0 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.once('message', () => process.exit(0));
