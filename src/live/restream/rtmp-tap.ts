/** Reads and edits the commands of one direction of an RTMP connection. RTMP 1.0, 5.3, 5.4.1, 7.1.1. */

interface TapEvents {
  /** The payload may be changed in place. */
  command(payload: Buffer): void;
  mediaBegan?(): void;
}

interface ChunkStream {
  timestamp: number;
  length: number;
  type: number;
  received: number;
  pieces: Buffer[];
}

const FIRST_CHUNK_BYTES = 128;
const EXTENDED_TIMESTAMP = 0xffffff;
const MESSAGE_HEADER_BYTES = [11, 7, 3, 0] as const;
const SET_CHUNK_SIZE = 1;
const COMMAND_AMF0 = 20;
const mediaTypes: ReadonlySet<number> = new Set([8, 9, 18]);
/** Longer commands pass unparsed. Addresses and keys have at most 2 KiB each. */
const maxCommandBytes = 16 * 1024;
/** For an incomplete command; more is malformed. */
const maxHeldBytes = 256 * 1024;
const maxChunkStreams = 64;

/** Starts after the handshake. From malformed input on, everything passes unchanged. */
export class RtmpTap {
  readonly #events: TapEvents;
  readonly #streams = new Map<number, ChunkStream>();
  #chunkBytes = FIRST_CHUNK_BYTES;
  #header: number[] = [];
  #stream: ChunkStream | undefined;
  #payloadLeft = 0;
  #openCommands = 0;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #hasMedia = false;
  #isMalformed = false;

  constructor(events: TapEvents) {
    this.#events = events;
  }

  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /** Takes ownership of `bytes`, and returns those to forward now. Holds back an incomplete command. */
  push(bytes: Buffer): Buffer[] {
    if (!this.#isMalformed) this.#parse(bytes);
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > maxHeldBytes && this.#openCommands > 0) this.#isMalformed = true;
    if (this.#openCommands > 0 && !this.#isMalformed) return [];
    const ready = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return ready;
  }

  #parse(bytes: Buffer): void {
    let position = 0;
    while (position < bytes.length && !this.#isMalformed) {
      if (this.#payloadLeft > 0) {
        const end = Math.min(bytes.length, position + this.#payloadLeft);
        this.#addPayload(bytes.subarray(position, end));
        position = end;
      } else {
        this.#header.push(bytes[position]!);
        position += 1;
        this.#parseHeader();
      }
    }
  }

  #parseHeader(): void {
    const header = this.#header;
    const first = header[0]!;
    const basicBytes = (first & 0x3f) === 0 ? 2 : (first & 0x3f) === 1 ? 3 : 1;
    const format = first >> 6;
    const messageBytes = MESSAGE_HEADER_BYTES[format]!;
    const plainBytes = basicBytes + messageBytes;
    if (header.length < plainBytes) return;
    const id = basicBytes === 1 ? first & 0x3f : 64 + header[1]! + (basicBytes === 3 ? header[2]! * 256 : 0);
    const former = this.#streams.get(id);
    if (former === undefined && (format > 1 || this.#streams.size >= maxChunkStreams)) {
      this.#isMalformed = true;
      return;
    }
    const number24 = (at: number) => (header[at]! << 16) | (header[at + 1]! << 8) | header[at + 2]!;
    const timestamp = format === 3 ? former!.timestamp : number24(basicBytes);
    if (header.length < plainBytes + (timestamp === EXTENDED_TIMESTAMP ? 4 : 0)) return;
    this.#header = [];
    const stream = former ?? { timestamp, length: 0, type: 0, received: 0, pieces: [] };
    this.#streams.set(id, stream);
    stream.timestamp = timestamp;
    if (format <= 1) {
      const [length, type] = [number24(basicBytes + 3), header[basicBytes + 6]!];
      // Neither may change within a message.
      this.#isMalformed = stream.received > 0 && (length !== stream.length || type !== stream.type);
      stream.length = length;
      stream.type = type;
    }
    this.#stream = stream;
    if (stream.received === 0) this.#startMessage(stream);
    this.#payloadLeft = Math.min(this.#chunkBytes, stream.length - stream.received);
    if (this.#payloadLeft <= 0) {
      this.#payloadLeft = 0;
      stream.received = 0;
    }
  }

  #startMessage(stream: ChunkStream): void {
    if (isParsed(stream) && stream.length > 0) this.#openCommands += 1;
    if (this.#hasMedia || !mediaTypes.has(stream.type)) return;
    this.#hasMedia = true;
    this.#events.mediaBegan?.();
  }

  #addPayload(piece: Buffer): void {
    const stream = this.#stream!;
    stream.received += piece.length;
    this.#payloadLeft -= piece.length;
    if (isParsed(stream)) stream.pieces.push(piece);
    if (stream.received < stream.length) return;
    stream.received = 0;
    if (!isParsed(stream)) return;
    const { pieces } = stream;
    stream.pieces = [];
    this.#openCommands -= 1;
    this.#endMessage(stream.type, pieces);
  }

  #endMessage(type: number, pieces: readonly Buffer[]): void {
    const payload = Buffer.concat(pieces);
    if (type === SET_CHUNK_SIZE) {
      this.#chunkBytes = payload.length < 4 ? 0 : payload.readUInt32BE(0) & 0x7fffffff;
      this.#isMalformed = this.#chunkBytes === 0;
      return;
    }
    this.#events.command(payload);
    let at = 0;
    for (const piece of pieces) {
      payload.copy(piece, 0, at, at + piece.length);
      at += piece.length;
    }
  }
}

function isParsed({ type, length }: ChunkStream): boolean {
  return (type === COMMAND_AMF0 || type === SET_CHUNK_SIZE) && length <= maxCommandBytes;
}

/** Undefined without a name (7.1.1). */
export function readAmfCommandName(payload: Buffer): string | undefined {
  if (payload.length < 3 || payload[0] !== 2) return undefined;
  return payload.toString('latin1', 3, 3 + payload.readUInt16BE(1));
}

/** `from` and `to` have the same number of bytes. */
export function replaceAmfString(payload: Buffer, from: string, to: string): void {
  const text = Buffer.from(from);
  // AMF0 2.4: string marker and length.
  const marked = Buffer.concat([Buffer.from([2, text.length >> 8, text.length & 0xff]), text]);
  for (let at = payload.indexOf(marked); at !== -1; at = payload.indexOf(marked, at + marked.length)) {
    payload.write(to, at + 3);
  }
}

/** `from` and `to` have the same number of bytes. */
export function replaceBytes(payload: Buffer, from: string, to: string): void {
  for (let at = payload.indexOf(from); at !== -1; at = payload.indexOf(from, at + 1)) payload.write(to, at);
}

export function readAmfStringProperty(payload: Buffer, name: string): string | undefined {
  const key = Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([2])]);
  const at = payload.indexOf(key);
  const start = at + key.length + 2;
  if (at === -1 || start > payload.length) return undefined;
  return payload.toString('utf8', start, start + payload.readUInt16BE(start - 2));
}
