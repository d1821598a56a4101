import { describe, expect, it } from 'vitest';
import { ChunkReader, type RtmpMessage } from '../../../../src/media/rtmp/chunk-reader.ts';
import { writeMessage } from '../../../../src/media/rtmp/chunk-writer.ts';
import {
  chunkMedia,
  MediaChunkWriter,
  mediaChunkBytes,
  type TrackTimes,
} from '../../../../src/media/rtmp/media-chunks.ts';
import type { TrackKind } from '../../../../src/media/samples/media-sample.ts';

interface Tag {
  readonly kind: TrackKind;
  readonly atMs: number;
  readonly body: Buffer;
}

const bodyOf = (bytes: number, seed: number) =>
  Buffer.from(Array.from({ length: bytes }, (_, at) => (at * 7 + seed) & 0xff));
const tag = (kind: TrackKind, atMs: number, bytes = 10): Tag => ({ kind, atMs, body: bodyOf(bytes, atMs) });

function batchesOf(...groups: readonly (readonly Tag[])[]) {
  let before: TrackTimes = {};
  return groups.map(tags => {
    const chunks = chunkMedia(tags, before);
    before = { ...before, ...chunks.lastMs };
    return chunks;
  });
}

/** Reads what a connection sent. */
function receive(...pieces: readonly Buffer[]): RtmpMessage[] {
  const messages: RtmpMessage[] = [];
  const limits = { maxMessageBytes: () => 1e7, maxUnfinishedBytes: () => 1e7, onMessageStart: () => {} };
  const reader = new ChunkReader(limits, message => messages.push(message));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(mediaChunkBytes);
  reader.push(
    writeMessage({ chunkStreamId: 2, type: 1, messageStreamId: 0, timestampMs: 0, payload: size }, 128),
  );
  for (const piece of pieces) reader.push(piece);
  return messages;
}

const timesOf = (messages: readonly RtmpMessage[]) =>
  messages.map(({ type, timestampMs }) => [type, timestampMs]);

describe('media in chunks', () => {
  it('arrives as it was sent, from the time 0 on', () => {
    const tags = [
      [tag('video', 7000, 30_000), tag('audio', 6990), tag('audio', 7010, 4096)],
      [tag('video', 7040, 4097), tag('audio', 7031), tag('video', 7080, 8192)],
      [tag('video', 7120), tag('audio', 7052)],
    ];
    const writer = new MediaChunkWriter(3, 7000);
    const messages = receive(...batchesOf(...tags).flatMap(batch => writer.write(batch)));
    expect(messages.map(({ payload }) => payload)).toEqual(tags.flat().map(({ body }) => body));
    expect(messages.map(({ messageStreamId }) => messageStreamId)).toEqual(messages.map(() => 3));
    expect(timesOf(messages)).toEqual([
      ...[
        [9, 0],
        [8, 0],
        [8, 10],
        [9, 40],
        [8, 31],
        [9, 80],
      ],
      ...[
        [9, 120],
        [8, 52],
      ],
    ]);
  });

  it('shares its bytes with every connection that sent what came before', () => {
    const [first, second] = batchesOf(
      [tag('video', 0), tag('audio', 5)],
      [tag('video', 40), tag('audio', 28)],
    );
    const [one, other] = [new MediaChunkWriter(1, 0), new MediaChunkWriter(7, 0)];
    for (const writer of [one, other]) writer.write(first!);
    expect(one.write(second!)[0]).toBe(second!.bytes);
    expect(other.write(second!)[0]).toBe(second!.bytes);
  });

  it('continues with right times after messages that were left out', () => {
    const [first, , third, last] = batchesOf(
      [tag('video', 1000, 9000), tag('audio', 1003)],
      [tag('video', 1040), tag('audio', 1026)],
      [tag('video', 1080), tag('video', 1120, 9000), tag('audio', 1049)],
      [tag('video', 1160), tag('audio', 1072)],
    );
    const writer = new MediaChunkWriter(1, 1000);
    const messages = receive(...writer.write(first!), ...writer.write(third!, 1), ...writer.write(last!));
    expect(timesOf(messages)).toEqual([
      [9, 0],
      [8, 3],
      [9, 120],
      [8, 49],
      [9, 160],
      [8, 72],
    ]);
  });

  it('can end within a batch', () => {
    const [first, second] = batchesOf(
      [tag('video', 0), tag('audio', 1)],
      [tag('audio', 24), tag('video', 40)],
    );
    const writer = new MediaChunkWriter(1, 0);
    const messages = receive(...writer.write(first!), ...writer.write(second!, 0, 1));
    expect(timesOf(messages)).toEqual([
      [9, 0],
      [8, 1],
      [8, 24],
    ]);
  });

  it('takes a track that begins after hours, and one that was silent for hours', () => {
    const hours = 20_000_000;
    const tags = [
      [tag('video', 0, 9000)],
      [tag('audio', hours, 9000), tag('video', hours + 7, 9000)],
      [tag('audio', hours + 23), tag('video', hours + 47)],
    ];
    const writer = new MediaChunkWriter(1, 0);
    const messages = receive(...batchesOf(...tags).flatMap(batch => writer.write(batch)));
    expect(timesOf(messages)).toEqual([
      [9, 0],
      [8, hours],
      [9, hours + 7],
      [8, hours + 23],
      [9, hours + 47],
    ]);
    expect(messages.map(({ payload }) => payload)).toEqual(tags.flat().map(({ body }) => body));
  });

  it('wraps after 49 days', () => {
    const days = 2 ** 32;
    const steps = Array.from({ length: 300 }, (_, index) => [tag('video', index * 16_000_000)]);
    const writer = new MediaChunkWriter(1, 0);
    const batches = batchesOf(...steps, [tag('video', 300 * 16_000_000), tag('audio', days + 5, 9000)]);
    const messages = receive(...batches.flatMap(batch => writer.write(batch)));
    expect(timesOf(messages).at(-2)).toEqual([9, (300 * 16_000_000) % days]);
    expect(timesOf(messages).at(-1)).toEqual([8, 5]);
    expect(messages.at(-1)!.payload).toEqual(tag('audio', days + 5, 9000).body);
  });
});
