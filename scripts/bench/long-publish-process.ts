/**
 * Publishes a recording in a loop, faster than time goes, up to the next mark and in real time from there on, from a process of its own.
 * Started with one argument, a {@link LongPublishOrder} as JSON. A number as message is the next mark, in milliseconds of media; any other message
 * ends it. Sends a {@link MarkReached} at each mark.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RtmpClient } from '../../test/support/rtmp-client.ts';
import { readRecording } from './recording.ts';

/** What is to be published. */
export interface LongPublishOrder {
  readonly port: number;
  readonly streamKey: string;
  readonly recordingPath: string;
  /** How much faster than time goes. */
  readonly speed: number;
}

/** So much was sent. */
export interface MarkReached {
  readonly mediaMs: number;
}

const order = JSON.parse(process.argv[2] ?? '') as LongPublishOrder;
const { heads, frames, loopMs } = await readRecording(order.recordingPath);
/** The system holds some hundred kilobytes more. */
const mostWaitingBytes = 256 * 1024;

let markMs = 0;
let isReached = true;
let isOver = false;
process.on('message', message => {
  if (typeof message === 'number') {
    markMs = message;
    isReached = false;
  } else isOver = true;
});

const client = await RtmpClient.connect({ port: order.port, chunkBytes: 65_536 });
const status = await client.publish(order.streamKey);
if (status.code !== 'NetStream.Publish.Start') throw new Error(`${status.code}: ${status.description}`);
for (const head of heads) client.sendTag(head.kind, 0, head.body);
let dueMs = performance.now();
let sentMs = 0;
for (let turn = 0; !isOver; turn += 1) {
  for (const frame of frames) {
    const atMs = turn * loopMs + frame.timestampMs;
    dueMs += Math.max(0, atMs - sentMs) / (isReached ? 1 : order.speed);
    sentMs = Math.max(sentMs, atMs);
    while (client.socket.writableLength > mostWaitingBytes) await sleep(1);
    const leftMs = dueMs - performance.now();
    if (leftMs > 0.5) await sleep(leftMs);
    // What could not be sent in time is not made up for.
    else if (leftMs < -100) dueMs = performance.now();
    if (isOver) break;
    if (client.isClosed) throw new Error('the server closed the connection of the publisher');
    client.sendTag(frame.kind, atMs, frame.body);
    if (isReached || atMs < markMs) continue;
    isReached = true;
    process.send?.({ mediaMs: atMs } satisfies MarkReached);
  }
}
await client.close();
process.disconnect();
