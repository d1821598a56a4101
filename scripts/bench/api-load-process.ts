/**
 * Sends requests of several kinds on many keep-alive connections, one at a time on each, and notes how long each answer took. Started
 * with one argument, an {@link ApiLoadOrder} as JSON; sends one {@link ApiLoadReport} and ends.
 */
import { connect } from 'node:net';

/** Requests of one kind, and the connections that send them. */
export interface ApiLoad {
  readonly name: string;
  readonly connections: number;
  readonly method: 'GET' | 'POST';
  /** Asked for in turn. */
  readonly paths: readonly string[];
  /** Sent in turn; none unless given. */
  readonly bodies?: readonly string[];
  readonly authorization?: string;
  readonly status: number;
}

export interface ApiLoadOrder {
  readonly port: number;
  readonly seconds: number;
  readonly loads: readonly ApiLoad[];
}

/** Responses of one kind of requests, without the warm-up. */
interface ApiLoadResult {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Answers of another status, and connections that broke; the warming up too. */
  readonly failures: number;
}

/** One result a load, in their order. */
export type ApiLoadReport = readonly ApiLoadResult[];

const order = JSON.parse(process.argv[2] ?? '') as ApiLoadOrder;
const warmUpMs = 1_500;
const maxAnswerBytes = 1_024 * 1_024;
const lengthHeader = 'Content-Length: ';
const headEnd = '\r\n\r\n';
const zero = 48;

let isMeasured = false;
let isOver = false;
const running = order.loads.map(load => {
  const times: number[] = [];
  const state = { load, times, failures: 0 };
  const requests = requestsOf(load);
  let sent = 0;
  const next = () => requests[sent++ % requests.length]!;
  for (let index = 0; index < load.connections; index += 1) openConnection(state, next);
  return state;
});
await new Promise(resolve => setTimeout(resolve, warmUpMs));
isMeasured = true;
const startedMs = performance.now();
await new Promise(resolve => setTimeout(resolve, order.seconds * 1_000));
const seconds = (performance.now() - startedMs) / 1_000;
isOver = true;
const report: ApiLoadReport = running.map(({ load, times, failures }) => {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return {
    name: load.name,
    requestsPerSecond: times.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    failures,
  };
});
process.send?.(report, () => process.exit(0));

/** Returns as many requests as both lists need to be gone through in step. */
function requestsOf({ method, paths, bodies, authorization }: ApiLoad): Buffer[] {
  return Array.from({ length: Math.max(paths.length, bodies?.length ?? 0) }, (_, index) => {
    const body = bodies?.[index % bodies.length];
    const lines = [
      `${method} ${paths[index % paths.length]} HTTP/1.1`,
      `Host: 127.0.0.1:${order.port}`,
      'Accept: application/json',
      ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
      ...(body === undefined
        ? []
        : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
    ];
    return Buffer.from(`${lines.join('\r\n')}${headEnd}${body ?? ''}`);
  });
}

function openConnection(
  state: { load: ApiLoad; times: number[]; failures: number },
  next: () => Buffer,
): void {
  const answer = Buffer.alloc(maxAnswerBytes);
  let received = 0;
  let expected = 0;
  let sentAtMs = 0;
  const send = () => {
    received = 0;
    expected = 0;
    sentAtMs = performance.now();
    socket.write(next());
  };
  const socket = connect({
    host: '127.0.0.1',
    port: order.port,
    noDelay: true,
    onread: {
      // Copies what one connection got at once: all read one after the other.
      buffer: Buffer.alloc(64 * 1_024),
      callback: (count, buffer) => {
        (buffer as Buffer).copy(answer, received, 0, count);
        received += count;
        if (expected === 0) expected = lengthOf(answer, received);
        if (expected === 0 || received < expected) return true;
        if (received > expected || statusOf(answer) !== state.load.status) state.failures += 1;
        if (isMeasured && !isOver) state.times.push(performance.now() - sentAtMs);
        if (!isOver) send();
        return true;
      },
    },
  });
  socket.on('error', () => {
    state.failures += 1;
  });
  socket.on('close', () => {
    if (!isOver) state.failures += 1;
  });
  socket.on('connect', send);
}

/** Bytes of head and body together; 0 while the head is not there. */
function lengthOf(answer: Buffer, received: number): number {
  const end = answer.subarray(0, received).indexOf(headEnd);
  if (end < 0) return 0;
  let at = answer.subarray(0, end).indexOf(lengthHeader) + lengthHeader.length;
  let length = 0;
  for (; answer[at]! >= zero; at += 1) length = length * 10 + answer[at]! - zero;
  return end + headEnd.length + length;
}

function statusOf(answer: Buffer): number {
  return (answer[9]! - zero) * 100 + (answer[10]! - zero) * 10 + answer[11]! - zero;
}
