import { AppError } from '../../shared/errors.ts';

/** RTMP 1.0, sections 5.4 and 7.1. */
export const MESSAGE = {
  setChunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowAcknowledgementSize: 5,
  setPeerBandwidth: 6,
  audio: 8,
  video: 9,
  dataAmf3: 15,
  sharedObjectAmf3: 16,
  commandAmf3: 17,
  dataAmf0: 18,
  sharedObjectAmf0: 19,
  commandAmf0: 20,
  aggregate: 22,
} as const;

const knownTypes: ReadonlySet<number> = new Set(Object.values(MESSAGE));

export interface RtmpMessage {
  readonly type: number;
  readonly messageStreamId: number;
  /** 0..2^32-1. */
  readonly timestampMs: number;
  /** Payload that is not written to again. */
  readonly payload: Buffer;
}

/** Limits of a connection. Read at every message, so they may change. */
export interface ChunkLimits {
  maxMessageBytes(type: number): number;
  /** Returns the maximum size of all incomplete messages together. */
  maxUnfinishedBytes(): number;
  /** Called when a message starts; an error thrown here ends the reading. */
  onMessageStart(): void;
}

interface ChunkStream {
  timestampMs: number;
  /** Absolute after a type 0 header, else a delta. */
  timestampField: number;
  hasExtendedTimestamp: boolean;
  length: number;
  type: number;
  messageStreamId: number;
  payload: Buffer | undefined;
  receivedBytes: number;
}

const maxChunkStreams = 64;
const defaultChunkBytes = 128;
const maxChunkBytes = 0xffffff;
const extended = 0xffffff;
/** Memory of its own takes longer to allocate and to free than a frame takes otherwise. */
const sharedBytes = 64 * 1024;
/** Smaller messages come from Node's pool, and larger ones have memory of their own. */
const sharedMessageBytes = { min: 4096, max: sharedBytes / 4 };
const messageHeaderBytes = [11, 7, 3, 0] as const;

/**
 * Reassembles messages from chunks (RTMP 1.0, 5.3 and 5.4). Replaces `chunkRead` of node-media-server, which confuses
 * chunk stream ids above 319, loses sync when the chunk size changes or a header comes within a message, allocates
 * any announced length, and stops after a timestamp passes 2^32.
 */
export class ChunkReader {
  readonly #limits: ChunkLimits;
  readonly #onMessage: (message: RtmpMessage) => void;
  readonly #streams = new Map<number, ChunkStream>();
  /** Start of a header that has not arrived completely. */
  #unreadHeader = Buffer.alloc(0);
  /** Continuations of this peer lack the extended timestamp. */
  #omitsExtendedTimestamps = false;
  #stream: ChunkStream | undefined;
  #chunkBytes = defaultChunkBytes;
  #chunkBytesLeft = 0;
  #unfinishedBytes = 0;
  /** Buffer for payloads of this connection, one after the other. */
  #shared: Buffer | undefined;
  #sharedUsed = 0;
  #isHeld = false;
  #isReading = false;
  #waiting: Buffer[] = [];

  constructor(limits: ChunkLimits, onMessage: (message: RtmpMessage) => void) {
    this.#limits = limits;
    this.#onMessage = onMessage;
  }

  /**
   * Does not keep `data`.
   * @throws AppError `media-malformed`, and errors of `onMessage`; unusable after that
   */
  push(data: Buffer): void {
    if (this.#isHeld || this.#isReading || this.#waiting.length > 0) {
      this.#waiting.push(Buffer.from(data));
      return;
    }
    this.#isReading = true;
    try {
      const rest = this.#read(data);
      if (rest.length > 0) this.#waiting.push(Buffer.from(rest));
    } finally {
      this.#isReading = false;
    }
  }

  /** Stops dispatching messages until {@link release}, including those already received. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#readWaiting();
  }

  close(): void {
    this.#isHeld = true;
    this.#waiting = [];
    this.#streams.clear();
    this.#stream = undefined;
    this.#unreadHeader = Buffer.alloc(0);
    this.#shared = undefined;
  }

  #readWaiting(): void {
    // A handler that holds and releases within its call is already inside the loop.
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!this.#isHeld) {
        const data = this.#waiting.shift();
        if (data === undefined) break;
        const rest = this.#read(data);
        if (rest.length > 0) this.#waiting.unshift(rest);
      }
    } finally {
      this.#isReading = false;
    }
  }

  /** Returns what is left when {@link hold} was called. */
  #read(input: Buffer): Buffer {
    const data = this.#unreadHeader.length === 0 ? input : Buffer.concat([this.#unreadHeader, input]);
    this.#unreadHeader = Buffer.alloc(0);
    let offset = 0;
    while (offset < data.length && !this.#isHeld) {
      if (this.#stream === undefined) {
        const bytes = this.#headerBytes(data, offset);
        if (bytes === undefined) {
          this.#unreadHeader = Buffer.from(data.subarray(offset));
          return Buffer.alloc(0);
        }
        this.#startChunk(data, offset, bytes);
        offset += bytes;
      }
      offset += this.#readPayload(this.#stream!, data, offset);
    }
    return data.subarray(offset);
  }

  #readPayload(stream: ChunkStream, data: Buffer, offset: number): number {
    const payload = stream.payload!;
    const count = Math.min(this.#chunkBytesLeft, data.length - offset);
    data.copy(payload, stream.receivedBytes, offset, offset + count);
    stream.receivedBytes += count;
    this.#chunkBytesLeft -= count;
    if (this.#chunkBytesLeft > 0) return count;
    this.#stream = undefined;
    if (stream.receivedBytes === stream.length) {
      this.#drop(stream);
      const { type, messageStreamId, timestampMs } = stream;
      this.#dispatch({ type, messageStreamId, timestampMs, payload });
    }
    return count;
  }

  /** Length of the header at `at`; undefined until enough of it has arrived. */
  #headerBytes(bytes: Buffer, at: number): number | undefined {
    const available = bytes.length - at;
    const basic = basicHeaderBytes(bytes[at]!);
    if (available < basic) return undefined;
    const format = bytes[at]! >> 6;
    const plain = basic + messageHeaderBytes[format as 0 | 1 | 2 | 3];
    if (available < plain) return undefined;
    const isExtended =
      format === 3
        ? this.#type3IsExtended(bytes, at + basic, this.#streams.get(chunkStreamId(bytes, at)))
        : bytes.readUIntBE(at + basic, 3) === extended;
    if (isExtended === undefined) return undefined;
    const length = isExtended ? plain + 4 : plain;
    return available < length ? undefined : length;
  }

  /**
   * 5.3.1.3: a type 3 chunk repeats the extended timestamp of the preceding header on its chunk stream. Many encoders
   * leave it out, so the four bytes count only when they are that timestamp, of which some encoders send 31 bits.
   * Undefined until enough bytes have arrived.
   */
  #type3IsExtended(bytes: Buffer, at: number, stream: ChunkStream | undefined): boolean | undefined {
    if (stream?.hasExtendedTimestamp !== true) return false;
    const field = stream.timestampField;
    for (let index = 0; index < 4; index++) {
      const byte = bytes[at + index];
      if (byte === undefined) return undefined;
      const mask = index === 0 ? 0x7f : 0xff;
      if (((byte ^ (field >>> (24 - 8 * index))) & mask) === 0) continue;
      if (stream.payload !== undefined) this.#omitsExtendedTimestamps = true;
      return !this.#omitsExtendedTimestamps;
    }
    return true;
  }

  /** Reads the header at `at`, which is complete. */
  #startChunk(bytes: Buffer, at: number, headerBytes: number): void {
    const format = bytes[at]! >> 6;
    const stream = this.#findStream(chunkStreamId(bytes, at), format);
    if (stream.payload === undefined) {
      const basic = basicHeaderBytes(bytes[at]!);
      const isExtended = headerBytes > basic + messageHeaderBytes[format as 0 | 1 | 2 | 3];
      this.#readMessageHeader(stream, format, bytes, at + basic, isExtended);
      this.#startMessage(stream);
    } else if (format !== 3) {
      throw malformedRtmp('a message header stands within a message');
    }
    this.#stream = stream;
    this.#chunkBytesLeft = Math.min(this.#chunkBytes, stream.length - stream.receivedBytes);
  }

  #findStream(id: number, format: number): ChunkStream {
    const known = this.#streams.get(id);
    if (known !== undefined) return known;
    // Type 1 lacks only the stream id; librtmp opens the control stream with it.
    if (format > 1) throw malformedRtmp(`chunk stream ${id} begins with a type ${format} header`);
    if (this.#streams.size >= maxChunkStreams)
      throw malformedRtmp(`more than ${maxChunkStreams} chunk streams`);
    const stream: ChunkStream = {
      timestampMs: 0,
      timestampField: 0,
      hasExtendedTimestamp: false,
      length: 0,
      type: 0,
      messageStreamId: 0,
      payload: undefined,
      receivedBytes: 0,
    };
    this.#streams.set(id, stream);
    return stream;
  }

  #readMessageHeader(
    stream: ChunkStream,
    format: number,
    bytes: Buffer,
    at: number,
    isExtended: boolean,
  ): void {
    if (format < 3) {
      stream.timestampField = bytes.readUIntBE(at, 3);
      stream.hasExtendedTimestamp = isExtended;
    }
    if (format < 2) {
      stream.length = bytes.readUIntBE(at + 3, 3);
      stream.type = bytes[at + 6]!;
    }
    if (format === 0) stream.messageStreamId = bytes.readUInt32LE(at + 7);
    if (isExtended) {
      stream.timestampField = bytes.readUInt32BE(at + messageHeaderBytes[format as 0 | 1 | 2 | 3]);
    }
    // 5.3.1.2.4: a type 3 header that starts a message repeats the preceding field, even an absolute one.
    stream.timestampMs =
      format === 0 ? stream.timestampField : (stream.timestampMs + stream.timestampField) >>> 0;
  }

  #startMessage(stream: ChunkStream): void {
    const { type, length } = stream;
    if (!knownTypes.has(type)) throw malformedRtmp(`unknown message type ${type}`);
    this.#limits.onMessageStart();
    if (length > this.#limits.maxMessageBytes(type)) {
      throw malformedRtmp(`a message of type ${type} has ${length} bytes`);
    }
    if (this.#unfinishedBytes + length > this.#limits.maxUnfinishedBytes()) {
      throw malformedRtmp('too much is unfinished at a time');
    }
    this.#unfinishedBytes += length;
    stream.payload = this.#allocate(length);
    stream.receivedBytes = 0;
  }

  #allocate(length: number): Buffer {
    if (length < sharedMessageBytes.min || length > sharedMessageBytes.max) return Buffer.allocUnsafe(length);
    if (this.#shared === undefined || this.#sharedUsed + length > sharedBytes) {
      this.#shared = Buffer.allocUnsafeSlow(sharedBytes);
      this.#sharedUsed = 0;
    }
    const from = this.#sharedUsed;
    this.#sharedUsed += length;
    return this.#shared.subarray(from, this.#sharedUsed);
  }

  #drop(stream: ChunkStream): void {
    if (stream.payload === undefined) return;
    this.#unfinishedBytes -= stream.length;
    stream.payload = undefined;
    stream.receivedBytes = 0;
  }

  #dispatch(message: RtmpMessage): void {
    if (message.type === MESSAGE.setChunkSize) {
      const bytes = readUInt32(message.payload, 'Set Chunk Size');
      // 5.4.1: 1..2^31-1; sizes above the longest message have no further effect.
      if (bytes < 1 || bytes > 0x7fffffff) throw malformedRtmp(`a chunk size of ${bytes}`);
      this.#chunkBytes = Math.min(bytes, maxChunkBytes);
    } else if (message.type === MESSAGE.abort) {
      const aborted = this.#streams.get(readUInt32(message.payload, 'Abort'));
      if (aborted !== undefined) this.#drop(aborted);
    } else {
      this.#onMessage(message);
    }
  }
}

function basicHeaderBytes(first: number): number {
  const id = first & 0x3f;
  return id === 0 ? 2 : id === 1 ? 3 : 1;
}

function chunkStreamId(bytes: Buffer, at: number): number {
  const id = bytes[at]! & 0x3f;
  if (id === 0) return 64 + bytes[at + 1]!;
  if (id === 1) return 64 + bytes[at + 1]! + bytes[at + 2]! * 256;
  return id;
}

export function malformedRtmp(what: string): AppError {
  return new AppError('media-malformed', `RTMP: ${what}`);
}

export function readUInt32(payload: Buffer, what: string): number {
  if (payload.length < 4) throw malformedRtmp(`${what} of ${payload.length} bytes`);
  return payload.readUInt32BE(0);
}
