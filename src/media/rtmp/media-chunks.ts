import type { TrackKind } from '../samples/media-sample.ts';
import { MESSAGE } from './chunk-reader.ts';
import {
  EXTENDED_TIMESTAMP,
  headerBytes,
  messageBytes,
  writeContinuationAt,
  writeHeaderAt,
  writeMessageAt,
} from './chunk-writer.ts';

/**
 * The messages of a short time, chunked once for all connections. Their headers are of type 1, whose deltas fit every connection
 * that has sent the track's previous message.
 */
export interface MediaChunks {
  readonly bytes: Buffer;
  readonly messages: readonly ChunkedMessage[];
  /** Per track, the time of the message before its first one. */
  readonly previousMs: TrackTimes;
  /** Last times of the tracks that have messages. */
  readonly lastMs: TrackTimes;
}

interface ChunkedMessage {
  readonly kind: TrackKind;
  readonly atMs: number;
  /** Undefined when no connection can use the delta. */
  readonly previousMs: number | undefined;
  /** Position in the bytes. */
  readonly start: number;
  readonly end: number;
  readonly payloadBytes: number;
}

interface MediaTag {
  readonly kind: TrackKind;
  /** Rising on each track; whole milliseconds. */
  readonly atMs: number;
  readonly body: Buffer;
}

type MutableTimes = Partial<Record<TrackKind, number>>;
export type TrackTimes = Readonly<MutableTimes>;

/** Chunk size of OBS, which every platform accepts. */
export const mediaChunkBytes = 4096;
export const mediaChunkStreams = { audio: 4, video: 6, data: 5 } as const;

/** @param before per track, the time of the message before */
export function chunkMedia(tags: readonly MediaTag[], before: TrackTimes): MediaChunks {
  const totalBytes = tags.reduce(
    (sum, { body }) => sum + messageBytes(1, 0, body.length, mediaChunkBytes),
    0,
  );
  const bytes = Buffer.allocUnsafeSlow(totalBytes);
  const previousMs: MutableTimes = {};
  const lastMs: MutableTimes = {};
  const messages: ChunkedMessage[] = [];
  let end = 0;
  for (const { kind, atMs, body } of tags) {
    const formerMs = lastMs[kind] ?? before[kind];
    const deltaMs = atMs - (formerMs ?? Number.NEGATIVE_INFINITY);
    const isShared = deltaMs >= 0 && deltaMs < EXTENDED_TIMESTAMP;
    const start = end;
    const timestamp = isShared ? deltaMs : 0;
    const header = { ...headerOf(kind), format: 1, messageStreamId: 0, timestamp } as const;
    end = writeMessageAt(bytes, start, header, body, mediaChunkBytes);
    const sharedMs = isShared ? formerMs : undefined;
    if (lastMs[kind] === undefined && sharedMs !== undefined) previousMs[kind] = sharedMs;
    lastMs[kind] = atMs;
    messages.push({ kind, atMs, previousMs: sharedMs, start, end, payloadBytes: body.length });
  }
  return { bytes, messages, previousMs, lastMs };
}

/** One connection's position in the chunks. Timestamps begin at 0. */
export class MediaChunkWriter {
  readonly #messageStreamId: number;
  readonly #startMs: number;
  /** Per track, of the last message, on the clock of the chunks. */
  readonly #sentMs: MutableTimes = {};

  constructor(messageStreamId: number, startMs: number) {
    this.#messageStreamId = messageStreamId;
    this.#startMs = Math.round(startMs);
  }

  /** Returns the bytes to send, which share their memory. */
  write(chunks: MediaChunks, from = 0, to = chunks.messages.length): Buffer[] {
    if (from === 0 && to === chunks.messages.length && this.#canShare(chunks)) {
      Object.assign(this.#sentMs, chunks.lastMs);
      return [chunks.bytes];
    }
    const pieces: Buffer[] = [];
    let sharedFrom: number | undefined;
    for (const message of chunks.messages.slice(from, to)) {
      const { kind, atMs, previousMs, start, end } = message;
      const sentMs = this.#sentMs[kind];
      const nextMs = Math.max(atMs, sentMs ?? this.#startMs);
      this.#sentMs[kind] = nextMs;
      if (sentMs !== undefined && sentMs === previousMs) {
        // Consecutive messages stay one piece.
        if (sharedFrom === undefined) pieces.push(chunks.bytes.subarray(start, end));
        else pieces[pieces.length - 1] = chunks.bytes.subarray(sharedFrom, end);
        sharedFrom ??= start;
        continue;
      }
      sharedFrom = undefined;
      pieces.push(...this.#rewrite(chunks.bytes, message, nextMs, sentMs));
    }
    return pieces;
  }

  #canShare({ previousMs, lastMs }: MediaChunks): boolean {
    return (
      (lastMs.video === undefined || isAt(this.#sentMs.video, previousMs.video)) &&
      (lastMs.audio === undefined || isAt(this.#sentMs.audio, previousMs.audio))
    );
  }

  /** Replaces the header, and with an extended timestamp the continuations. */
  #rewrite(
    bytes: Buffer,
    { kind, start, end, payloadBytes }: ChunkedMessage,
    atMs: number,
    sentMs: number | undefined,
  ): Buffer[] {
    const format = sentMs === undefined ? 0 : 1;
    const timestamp = (atMs - (sentMs ?? this.#startMs)) % 2 ** 32;
    const header = { ...headerOf(kind), format, messageStreamId: this.#messageStreamId, timestamp } as const;
    const head = Buffer.alloc(headerBytes[format] + (timestamp >= EXTENDED_TIMESTAMP ? 4 : 0));
    writeHeaderAt(head, 0, header, payloadBytes);
    const bodyStart = start + headerBytes[1];
    if (timestamp < EXTENDED_TIMESTAMP) return [head, bytes.subarray(bodyStart, end)];
    const continuation = Buffer.alloc(5);
    writeContinuationAt(continuation, 0, header);
    const pieces: Buffer[] = [head];
    for (let at = bodyStart; at < end; at += mediaChunkBytes + 1) {
      if (at > bodyStart) pieces.push(continuation);
      pieces.push(bytes.subarray(at, Math.min(end, at + mediaChunkBytes)));
    }
    return pieces;
  }
}

function isAt(sentMs: number | undefined, previousMs: number | undefined): boolean {
  return sentMs !== undefined && sentMs === previousMs;
}

function headerOf(kind: TrackKind) {
  return { chunkStreamId: mediaChunkStreams[kind], type: MESSAGE[kind] };
}
