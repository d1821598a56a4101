/**
 * A Koa application that answers everything with one text: what the API's speed is compared with. Started with one argument, the
 * text; sends its port, and ends when it is told to stop.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';

const text = process.argv[2] ?? '""';
const koa = new Koa();
koa.use(ctx => {
  ctx.set('Content-Type', 'application/json');
  ctx.body = JSON.parse(text);
});
const server = createServer(koa.callback());
server.listen({ host: '127.0.0.1', port: 0 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
process.once('message', () => process.exit(0));
