/**
 * Sends the playback reports of many viewers, as the player page does: one every five seconds, with five positions. Started with one
 * argument, a {@link ReportsOrder} as JSON; sends a {@link ReportsReport} every second, until it is told to stop.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export interface ReportsOrder {
  readonly port: number;
  readonly viewers: number;
  readonly rampSeconds: number;
  /** Average time after which a viewer leaves and another one comes. */
  readonly visitSeconds: number;
  /** Ids of media are this and a number from 1. */
  readonly mediaPrefix: string;
  readonly media: number;
  /** The first ones have half of the viewers. */
  readonly popular: number;
}

export interface ReportsReport {
  readonly sent: number;
  /** Other answers than 202, and reports that got none because their connection broke. */
  readonly failures: number;
  /** Failures by status, or by `none`. */
  readonly failuresBy: Readonly<Record<string, number>>;
  readonly firstFailure: string;
}

interface Connection {
  readonly socket: Socket;
  unanswered: number;
}

interface Viewer {
  dueMs: number;
  untilMs: number;
  position: number;
  head: string;
  body: { sid: string; mid: string; pid: string; ref: string; ver: string };
}

const order = JSON.parse(process.argv[2] ?? '') as ReportsOrder;
const connections = 50;
const reportEveryMs = 5_000;
const tickMs = 20;
const userAgents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36',
];
let sent = 0;
const failuresBy: Record<string, number> = {};
let firstFailure = '';
let isOver = false;
const open = Array.from({ length: connections }, connectAt);
const startedMs = Date.now();
const viewers = Array.from({ length: order.viewers }, (_, index) =>
  arrive(startedMs + (index * order.rampSeconds * 1_000) / order.viewers),
);
const ticking = setInterval(tick, tickMs);
const telling = setInterval(() => {
  const failures = Object.values(failuresBy).reduce((sum, count) => sum + count, 0);
  process.send?.({ sent, failures, failuresBy, firstFailure } satisfies ReportsReport);
}, 1_000);
process.on('message', () => {
  isOver = true;
  clearInterval(ticking);
  clearInterval(telling);
  for (const { socket } of open) socket.destroy();
  process.disconnect();
});

function arrive(atMs: number): Viewer {
  const { mediaPrefix, media, popular, visitSeconds, port } = order;
  const mid = `${mediaPrefix}${1 + randomInt(Math.random() < 0.5 ? popular : media)}`;
  const address = [24 + randomInt(180), randomInt(256), randomInt(256), randomInt(256)].join('.');
  return {
    dueMs: atMs,
    untilMs: atMs - Math.log(1 - Math.random()) * visitSeconds * 1_000,
    position: 0,
    head: `POST /watch HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: ${userAgents[randomInt(userAgents.length)]}\r\nX-Forwarded-For: ${address}\r\nContent-Type: text/plain\r\n`,
    body: { sid: randomUUID(), mid, pid: randomUUID(), ref: 'https://example.org/live', ver: '1' },
  };
}

function tick(): void {
  const nowMs = Date.now();
  for (let index = 0; index < viewers.length; index += 1) {
    if (viewers[index]!.dueMs > nowMs) continue;
    if (viewers[index]!.untilMs <= nowMs) viewers[index] = arrive(nowMs);
    report(viewers[index]!, nowMs);
  }
}

function report(viewer: Viewer, nowMs: number): void {
  const isFirst = viewer.position === 0;
  const eve: object[] = isFirst
    ? [1, 2].map(typ => ({ eat: nowMs, typ, vti: 0, vwi: 1280, vhe: 720, pau: false }))
    : [];
  for (let second = 4; second >= 0 && !isFirst; second -= 1) {
    eve.push({
      eat: nowMs - second * 1_000,
      typ: 4,
      vti: viewer.position - second,
      vwi: 1280,
      vhe: 720,
      pau: false,
    });
  }
  const body = JSON.stringify({ sat: nowMs, ...viewer.body, eve });
  const connection = open[sent % connections]!;
  connection.socket.write(`${viewer.head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  connection.unanswered += 1;
  sent += 1;
  viewer.position += reportEveryMs / 1_000;
  viewer.dueMs = Math.max(viewer.dueMs + reportEveryMs, nowMs);
}

/** Connects again when the connection ends. */
function connectAt(_: unknown, index: number): Connection {
  const socket = connect({ host: '127.0.0.1', port: order.port, noDelay: true });
  const connection: Connection = { socket, unanswered: 0 };
  socket.on('data', data => {
    const text = data.toString('latin1');
    for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
      connection.unanswered -= 1;
      if (status !== '202') fail(status!, 1, text.slice(0, 600));
    }
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (isOver) return;
    fail('none', connection.unanswered, 'a connection ended');
    setTimeout(() => {
      open[index] = connectAt(undefined, index);
    }, tickMs);
  });
  return connection;
}

function fail(status: string, count: number, text: string): void {
  failuresBy[status] = (failuresBy[status] ?? 0) + count;
  firstFailure ||= text;
}
