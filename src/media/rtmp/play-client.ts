import type { FlvTag } from '../flv/flv-tag.ts';
import { splitAggregate } from './aggregate-message.ts';
import { type AmfValue, decodeAmf0, encodeAmf0 } from './amf0.ts';
import { ChunkReader, MESSAGE, malformedRtmp, type RtmpMessage, readUInt32 } from './chunk-reader.ts';
import { writeMessage } from './chunk-writer.ts';

interface PlayClientOptions {
  /** Application with its query. */
  readonly app: string;
  readonly tcUrl: string;
  readonly streamKey: string;
  readonly write: (bytes: Buffer) => void;
  readonly onTag: (tag: FlvTag) => void;
  /** @param code such as `NetStream.Play.StreamNotFound`; may be empty */
  readonly onEnded: (code: string) => void;
}

const TRANSACTION = { connect: 1, createStream: 2, play: 0 } as const;
const controlChunkStream = 2;
const commandChunkStream = 3;
/** User control messages (RTMP 1.0, 7.1.7). */
const STREAM_EOF = 1;
const SET_BUFFER_LENGTH = 3;
const PING_REQUEST = 6;
const PING_RESPONSE = 7;
const bufferMs = 1_000;
const handshakeBytes = 1 + 2 * 1536;
const defaultChunkBytes = 128;
const maxMediaBytes = 8 * 1024 * 1024;
const maxAnswerBytes = 64 * 1024;
const maxUnfinishedBytes = 16 * 1024 * 1024;
const kinds: Readonly<Record<number, FlvTag['kind']>> = {
  [MESSAGE.audio]: 'audio',
  [MESSAGE.video]: 'video',
  [MESSAGE.dataAmf0]: 'script',
};
const endCode =
  /\.(?:StreamNotFound|Failed|Rejected|Stop|UnpublishNotify|InvalidApp|Closed|Unauthorized|Denied)$/i;

/** Plays a live stream on a connection after its handshake (RTMP 1.0, 7.2). Follows no redirects. */
export class PlayClient {
  readonly #options: PlayClientOptions;
  readonly #reader: ChunkReader;
  #bytesIn = handshakeBytes;
  #ackedBytes = 0;
  #ackWindowBytes = Number.POSITIVE_INFINITY;

  constructor(options: PlayClientOptions) {
    this.#options = options;
    this.#reader = new ChunkReader(
      {
        maxMessageBytes: type =>
          type === MESSAGE.audio || type === MESSAGE.video || type === MESSAGE.aggregate
            ? maxMediaBytes
            : maxAnswerBytes,
        maxUnfinishedBytes: () => maxUnfinishedBytes,
        onMessageStart: () => {},
      },
      message => this.#handle(message),
    );
  }

  start(): void {
    const { app, tcUrl } = this.#options;
    this.#command(0, 'connect', TRANSACTION.connect, {
      app,
      flashVer: 'LNX 9,0,124,2',
      tcUrl,
      fpad: false,
      capabilities: 15,
      audioCodecs: 4071,
      videoCodecs: 252,
      videoFunction: 1,
      fourCcList: ['hvc1', 'av01', 'avc1', 'mp4a', 'Opus', 'ac-3', 'ec-3', 'fLaC', '.mp3'],
    });
  }

  /** @throws AppError `media-malformed`; unusable after that */
  push(bytes: Buffer): void {
    this.#bytesIn += bytes.length;
    this.#reader.push(bytes);
    if (this.#bytesIn - this.#ackedBytes < this.#ackWindowBytes) return;
    this.#ackedBytes = this.#bytesIn;
    this.#control(MESSAGE.acknowledgement, this.#bytesIn);
  }

  #handle(message: RtmpMessage): void {
    const { type, payload, timestampMs } = message;
    if (type === MESSAGE.aggregate) {
      for (const tag of splitAggregate(payload, timestampMs)) this.#tag(tag.type, tag.timestampMs, tag.body);
    } else if (kinds[type] !== undefined) this.#tag(type, timestampMs, payload);
    else if (type === MESSAGE.commandAmf0) this.#handleCommand(decodeAmf0(payload));
    else if (type === MESSAGE.commandAmf3) this.#handleCommand(decodeAmf0(payload.subarray(1)));
    else if (type === MESSAGE.windowAcknowledgementSize) {
      this.#ackWindowBytes = Math.max(1, readUInt32(payload, 'Window Acknowledgement Size'));
    } else if (type === MESSAGE.setPeerBandwidth) {
      this.#control(MESSAGE.windowAcknowledgementSize, readUInt32(payload, 'Set Peer Bandwidth'));
    } else if (type === MESSAGE.userControl) this.#handleControl(payload);
  }

  #tag(type: number, timestampMs: number, body: Buffer): void {
    const kind = kinds[type];
    if (kind !== undefined && body.length > 0) this.#options.onTag({ kind, timestampMs, body });
  }

  #handleControl(payload: Buffer): void {
    if (payload.length < 6) return;
    const event = payload.readUInt16BE(0);
    if (event === STREAM_EOF) this.#options.onEnded('NetStream.Play.Stop');
    if (event !== PING_REQUEST) return;
    const response = Buffer.from(payload.subarray(0, 6));
    response.writeUInt16BE(PING_RESPONSE);
    this.#write(controlChunkStream, MESSAGE.userControl, 0, response);
  }

  #handleCommand([name, transactionId, ...args]: readonly unknown[]): void {
    if (typeof name !== 'string') throw malformedRtmp('a command without a name');
    const info = args.findLast(arg => arg instanceof Map) as ReadonlyMap<string, unknown> | undefined;
    const code = typeof info?.get('code') === 'string' ? (info.get('code') as string) : '';
    if (name === '_result' && transactionId === TRANSACTION.connect) {
      this.#command(0, 'createStream', TRANSACTION.createStream, null);
    } else if (name === '_result' && transactionId === TRANSACTION.createStream) {
      const id = args.find(arg => typeof arg === 'number') ?? 1;
      this.#play(id);
    } else if (name === '_error' || name === 'close') this.#options.onEnded(code);
    else if (name === 'onStatus' && (info?.get('level') === 'error' || endCode.test(code))) {
      this.#options.onEnded(code);
    }
  }

  #play(messageStreamId: number): void {
    this.#command(messageStreamId, 'play', TRANSACTION.play, null, this.#options.streamKey, -1000);
    const length = Buffer.alloc(10);
    length.writeUInt16BE(SET_BUFFER_LENGTH);
    length.writeUInt32BE(messageStreamId >>> 0, 2);
    length.writeUInt32BE(bufferMs, 6);
    this.#write(controlChunkStream, MESSAGE.userControl, 0, length);
  }

  #command(messageStreamId: number, ...values: readonly AmfValue[]): void {
    this.#write(commandChunkStream, MESSAGE.commandAmf0, messageStreamId, encodeAmf0(...values));
  }

  #control(type: number, value: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(value % 2 ** 32);
    this.#write(controlChunkStream, type, 0, payload);
  }

  #write(chunkStreamId: number, type: number, messageStreamId: number, payload: Buffer): void {
    this.#options.write(
      writeMessage({ chunkStreamId, type, messageStreamId, timestampMs: 0, payload }, defaultChunkBytes),
    );
  }
}
