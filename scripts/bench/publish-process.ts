/**
 * Publishes one recording to several streams at once, from a process of its own, so that what it costs is not the server's.
 * Started with one argument, a {@link PublishOrder} as JSON. Sends {@link PublishReport}s; any message ends it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PreparedRecording, Publisher } from './publisher.ts';
import { readRecording } from './recording.ts';

export interface PublishOrder {
  readonly port: number;
  readonly streamKeys: readonly string[];
  readonly recordingPath: string;
  /** Time between two starts, so that keyframes do not all come at once. */
  readonly staggerMs: number;
  /** Tells when each video frame of the first stream was sent. */
  readonly tellFrames: boolean;
  /** Tells the same of the first of every so many streams. */
  readonly tellFramesOfEvery?: number;
}

/** One event of a stream, with its wall-clock time. Frames come in order, without a number. */
export interface PublishReport {
  readonly kind: 'accepted' | 'frame' | 'all-started';
  readonly stream: number;
  readonly atMs: number;
}

/** Fine enough: late frames are late at the source, and times of sending are told as they were. */
const tickMs = 2;

const order = JSON.parse(process.argv[2] ?? '') as PublishOrder;
const recording = new PreparedRecording(await readRecording(order.recordingPath));
const publishers: Publisher[] = [];
const tell = (kind: PublishReport['kind'], stream = 0, atMs = Date.now()) =>
  process.send?.({ kind, stream, atMs } satisfies PublishReport);
const timer = setInterval(() => {
  const nowMs = performance.now();
  for (const publisher of publishers) publisher.sendDue(nowMs);
}, tickMs);
process.once('message', async () => {
  clearInterval(timer);
  await Promise.all(publishers.map(publisher => publisher.stop()));
  process.disconnect();
});
for (const [index, streamKey] of order.streamKeys.entries()) {
  const isTold = order.tellFrames ? index === 0 : index % (order.tellFramesOfEvery ?? Infinity) === 0;
  const onVideoSent = isTold ? (atMs: number) => tell('frame', index, atMs) : undefined;
  const publisher = await Publisher.start(order.port, streamKey, recording, onVideoSent);
  tell('accepted', index);
  publishers.push(publisher);
  await sleep(order.staggerMs);
}
tell('all-started');
