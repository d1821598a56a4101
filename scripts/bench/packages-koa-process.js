/**
 * A Koa application that does nothing with the packages that a server loads at its start: what that start is compared with. Plain
 * JavaScript, as the server is when it is built. Sends its port, and ends when it is told to stop.
 */
import { createServer } from 'node:http';
import Router from '@koa/router';
import 'better-sqlite3';
import Koa from 'koa';
import 'kysely';
import 'lru-cache';
import 'node-media-server/src/core/logger.js';
import 'node-media-server/src/protocol/amf.js';
import 'node-media-server/src/protocol/rtmp.js';
import 'otpauth';
import 'pino';
import 'prom-client';
import 'ua-parser-js';
import 'ws';
import 'zod';

const router = new Router().get('/', ctx => {
  ctx.body = {};
});
const server = createServer(new Koa().use(router.routes()).callback());
server.listen({ host: '127.0.0.1', port: 0 }, () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ port });
});
process.once('message', () => process.exit(0));
