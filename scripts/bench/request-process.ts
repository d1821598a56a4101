/**
 * Asks for one path again and again on many keep-alive connections, one request at a time on each, and counts answers. Started with
 * one argument, a {@link RequestOrder} as JSON; sends one {@link RequestReport} and ends.
 */
import { connect } from 'node:net';

export interface RequestOrder {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface RequestReport {
  /** Count of all answers, those of the warming up too. */
  readonly answers: number;
  readonly requestsPerSecond: number;
  readonly bytesPerSecond: number;
  /** Percent of a core: near 100, this generator is the limit. */
  readonly processorPercent: number;
  /** Answers of another length than the first: something went wrong. */
  readonly failures: number;
}

const order = JSON.parse(process.argv[2] ?? '') as RequestOrder;
const request = Buffer.from(`GET ${order.path} HTTP/1.1\r\nHost: 127.0.0.1:${order.port}\r\n\r\n`);
const warmUpMs = 1000;
const buffer = Buffer.alloc(256 * 1024);

let answers = 0;
let bytes = 0;
let failures = 0;
let isOver = false;
const answerBytes = await measureAnswer();
for (let index = 0; index < order.connections; index += 1) openConnection();
await new Promise(resolve => setTimeout(resolve, warmUpMs));
const warmUpAnswers = answers;
bytes = 0;
const startedMs = performance.now();
const startedUsage = process.cpuUsage();
await new Promise(resolve => setTimeout(resolve, order.seconds * 1000));
const seconds = (performance.now() - startedMs) / 1000;
const { user, system } = process.cpuUsage(startedUsage);
isOver = true;
const report: RequestReport = {
  answers,
  requestsPerSecond: (answers - warmUpAnswers) / seconds,
  bytesPerSecond: bytes / seconds,
  processorPercent: (user + system) / 1e4 / seconds,
  failures,
};
process.send?.(report, () => process.exit(0));

/** Measures an answer. All are alike, so that their end is found by counting. */
function measureAnswer(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect({ host: '127.0.0.1', port: order.port });
  const chunks: Buffer[] = [];
  socket.on('error', reject).on('data', chunk => {
    chunks.push(chunk);
    const all = Buffer.concat(chunks);
    const headEnd = all.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = all.toString('latin1', 0, headEnd);
    if (!head.startsWith('HTTP/1.1 200'))
      reject(new Error(`${order.path} answered ${head.split('\r\n')[0]}`));
    resolve(headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]));
    socket.destroy();
  });
  socket.write(request);
  return promise;
}

function openConnection(): void {
  let received = 0;
  const socket = connect({
    host: '127.0.0.1',
    port: order.port,
    noDelay: true,
    // Read into one place for all: what comes is only counted.
    onread: {
      buffer,
      callback: count => {
        bytes += count;
        received += count;
        if (received < answerBytes) return true;
        if (received > answerBytes) failures += 1;
        received = 0;
        answers += 1;
        if (!isOver) socket.write(request);
        return true;
      },
    },
  });
  socket.on('error', () => {
    failures += 1;
  });
  socket.on('connect', () => socket.write(request));
}
