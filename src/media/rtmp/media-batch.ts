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
export interface MediaBatch<Format> {
  /** Of all messages. */
  readonly format: Format;
  readonly bytes: Buffer;
  readonly messages: readonly BatchedMessage[];
  readonly hasStart: boolean;
  /** Per track, the time of the message before its first one in the batch. */
  readonly previousMs: TrackTimes;
  /** Of the tracks that the batch has messages of. */
  readonly lastMs: TrackTimes;
}

interface BatchedMessage {
  readonly kind: TrackKind;
  /** A connection's media can begin here. */
  readonly isStart: boolean;
  readonly atMs: number;
  /** Undefined when no connection can use the delta. */
  readonly previousMs: number | undefined;
  /** Position in the batch. */
  readonly start: number;
  readonly end: number;
  readonly payloadBytes: number;
}

interface BatchTag {
  readonly kind: TrackKind;
  readonly isStart: boolean;
  /** Rising on each track. */
  readonly atMs: number;
  readonly body: Buffer;
}

type TrackTimes = Partial<Record<TrackKind, number>>;

/** As OBS has it, so every platform takes it. */
export const mediaChunkBytes = 4096;
export const mediaChunkStreams = { audio: 4, video: 6, data: 5 } as const;

/** Collects tags into batches. */
export class MediaBatcher<Format> {
  #tags: BatchTag[] = [];
  #lastMs: TrackTimes = {};

  add(tag: BatchTag): void {
    this.#tags.push(tag);
  }

  /** Returns undefined without any tag. */
  take(format: Format): MediaBatch<Format> | undefined {
    const tags = this.#tags;
    if (tags.length === 0) return undefined;
    this.#tags = [];
    const totalBytes = tags.reduce(
      (sum, { body }) => sum + messageBytes(1, 0, body.length, mediaChunkBytes),
      0,
    );
    const bytes = Buffer.allocUnsafeSlow(totalBytes);
    const before = this.#lastMs;
    const [previousMs, lastMs]: [TrackTimes, TrackTimes] = [{}, {}];
    const messages: BatchedMessage[] = [];
    let end = 0;
    for (const { kind, isStart, body, ...tag } of tags) {
      const atMs = Math.round(tag.atMs);
      const formerMs = lastMs[kind] ?? before[kind];
      const deltaMs = atMs - (formerMs ?? Number.NEGATIVE_INFINITY);
      const isShared = deltaMs >= 0 && deltaMs < EXTENDED_TIMESTAMP;
      const start = end;
      const header = {
        ...headerOf(kind),
        format: 1,
        messageStreamId: 0,
        timestamp: isShared ? deltaMs : 0,
      } as const;
      end = writeMessageAt(bytes, start, header, body, mediaChunkBytes);
      const sharedMs = isShared ? formerMs : undefined;
      if (lastMs[kind] === undefined && sharedMs !== undefined) previousMs[kind] = sharedMs;
      lastMs[kind] = atMs;
      messages.push({ kind, isStart, atMs, previousMs: sharedMs, start, end, payloadBytes: body.length });
    }
    this.#lastMs = { ...before, ...lastMs };
    return { format, bytes, messages, hasStart: messages.some(({ isStart }) => isStart), previousMs, lastMs };
  }
}

/** The tag body of a message. */
export function messageBody({ bytes }: MediaBatch<unknown>, { start, end }: BatchedMessage): Buffer {
  const pieces: Buffer[] = [];
  for (let at = start + headerBytes[1]; at < end; at += mediaChunkBytes + 1) {
    pieces.push(bytes.subarray(at, Math.min(end, at + mediaChunkBytes)));
  }
  return Buffer.concat(pieces);
}

/** One connection's position in the batches. Timestamps begin at 0. */
export class MediaChunkWriter {
  readonly #messageStreamId: number;
  readonly #startMs: number;
  /** Per track, of the last message, on the clock of the batches. */
  readonly #sentMs: TrackTimes = {};

  constructor(messageStreamId: number, startMs: number) {
    this.#messageStreamId = messageStreamId;
    this.#startMs = Math.round(startMs);
  }

  /** Returns the bytes to send, which share the batch's memory. */
  write(batch: MediaBatch<unknown>, from = 0, to = batch.messages.length): Buffer[] {
    if (from === 0 && to === batch.messages.length && this.#canShare(batch)) {
      Object.assign(this.#sentMs, batch.lastMs);
      return [batch.bytes];
    }
    const pieces: Buffer[] = [];
    let sharedFrom: number | undefined;
    for (const message of batch.messages.slice(from, to)) {
      const { kind, atMs, previousMs, start, end } = message;
      const sentMs = this.#sentMs[kind];
      const nextMs = Math.max(atMs, sentMs ?? this.#startMs);
      this.#sentMs[kind] = nextMs;
      if (sentMs !== undefined && sentMs === previousMs) {
        // Consecutive messages stay one piece.
        if (sharedFrom === undefined) pieces.push(batch.bytes.subarray(start, end));
        else pieces[pieces.length - 1] = batch.bytes.subarray(sharedFrom, end);
        sharedFrom ??= start;
        continue;
      }
      sharedFrom = undefined;
      pieces.push(...this.#rewrite(batch.bytes, message, nextMs, sentMs));
    }
    return pieces;
  }

  #canShare({ previousMs, lastMs }: MediaBatch<unknown>): boolean {
    return (
      (lastMs.video === undefined || isAt(this.#sentMs.video, previousMs.video)) &&
      (lastMs.audio === undefined || isAt(this.#sentMs.audio, previousMs.audio))
    );
  }

  /** Replaces the header, and with an extended timestamp the continuations. */
  #rewrite(
    bytes: Buffer,
    { kind, start, end, payloadBytes }: BatchedMessage,
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
