import { type AmfValue, decodeAmf0, encodeAmf0 } from './amf0.ts';
import { ChunkReader, MESSAGE, malformedRtmp, type RtmpMessage, readUInt32 } from './chunk-reader.ts';
import { writeMessage } from './chunk-writer.ts';
import { mediaChunkBytes, mediaChunkStreams } from './media-chunks.ts';

/** Status of an `onStatus` or `_error` of the server. */
export interface RtmpStatus {
  readonly code: string;
  readonly description: string;
}

interface PublishClientOptions {
  /** Application with its query. */
  readonly app: string;
  readonly tcUrl: string;
  readonly streamKey: string;
  /** FourCC of the codec, such as `hvc1`, when it needs Enhanced RTMP. */
  readonly fourCc: string | undefined;
  readonly write: (bytes: Buffer) => void;
  /** The server waits for media. */
  readonly onAccepted: () => void;
  /** May be called after `onAccepted`. */
  readonly onRefused: (status: RtmpStatus) => void;
  /** The server lists the codecs that it accepts, without this one. */
  readonly onCodecRefused: () => void;
}

/** Transaction ids, which answers repeat (RTMP 1.0, 7.1.1). */
const TRANSACTION = {
  connect: 1,
  releaseStream: 2,
  fcPublish: 3,
  createStream: 4,
  publish: 5,
  end: 0,
} as const;
const controlChunkStream = 2;
const commandChunkStream = 3;
/** User control messages (7.1.7). */
const PING_REQUEST = 6;
const PING_RESPONSE = 7;
/** Sent before the chunks that are counted. */
const handshakeBytes = 1 + 2 * 1536;
/** Servers answer with some hundred bytes. */
const maxAnswerBytes = 64 * 1024;
const maxUnfinishedBytes = 256 * 1024;
const mediaTypes: ReadonlySet<number> = new Set([MESSAGE.audio, MESSAGE.video, MESSAGE.aggregate]);
/** Codes of rejections, which some servers report with the level `status`. */
const refusedCode = /\.(?:BadName|Denied|Failed|Rejected|Unauthorized|InvalidApp)$/i;

/** Publishes on a connection after its handshake, with the commands that OBS and ffmpeg send (RTMP 1.0, 7.2). */
export class PublishClient {
  readonly #options: PublishClientOptions;
  readonly #reader: ChunkReader;
  #messageStreamId = 0;
  #bytesIn = handshakeBytes;
  #ackedBytes = 0;
  #ackWindowBytes = Number.POSITIVE_INFINITY;
  #peerBandwidth: number | undefined;
  #isAccepted = false;

  constructor(options: PublishClientOptions) {
    this.#options = options;
    this.#reader = new ChunkReader(
      {
        // Rejects media, which nobody sends to a publisher.
        maxMessageBytes: type => (mediaTypes.has(type) ? 0 : maxAnswerBytes),
        maxUnfinishedBytes: () => maxUnfinishedBytes,
        onMessageStart: () => {},
      },
      message => this.#handle(message),
    );
  }

  get messageStreamId(): number {
    return this.#messageStreamId;
  }

  start(): void {
    const { app, tcUrl, fourCc } = this.#options;
    this.#control(MESSAGE.setChunkSize, mediaChunkBytes);
    this.#command(0, 'connect', TRANSACTION.connect, {
      app,
      type: 'nonprivate',
      flashVer: 'FMLE/3.0 (compatible; Millrace)',
      swfUrl: tcUrl,
      tcUrl,
      ...(fourCc === undefined ? {} : { fourCcList: [fourCc] }),
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

  /** Precedes the sequence headers. */
  metadata(properties: ReadonlyMap<string, number | boolean | string>): Buffer {
    return this.message(
      mediaChunkStreams.data,
      MESSAGE.dataAmf0,
      encodeAmf0('@setDataFrame', 'onMetaData', properties),
    );
  }

  /** Formats a message on the stream that was created, with the timestamp 0. */
  message(chunkStreamId: number, type: number, payload: Buffer): Buffer {
    const messageStreamId = this.#messageStreamId;
    return writeMessage({ chunkStreamId, type, messageStreamId, timestampMs: 0, payload }, mediaChunkBytes);
  }

  /** Ends the stream. */
  end(): Buffer {
    const messageStreamId = this.#messageStreamId;
    return Buffer.concat([
      commandBytes(0, ['FCUnpublish', TRANSACTION.end, null, this.#options.streamKey]),
      commandBytes(0, ['deleteStream', TRANSACTION.end, null, messageStreamId]),
    ]);
  }

  #handle({ type, payload }: RtmpMessage): void {
    if (type === MESSAGE.commandAmf0) this.#handleCommand(decodeAmf0(payload));
    // AMF 3 commands begin with a byte for the format and hold AMF 0.
    else if (type === MESSAGE.commandAmf3) this.#handleCommand(decodeAmf0(payload.subarray(1)));
    else if (type === MESSAGE.windowAcknowledgementSize) {
      this.#ackWindowBytes = Math.max(1, readUInt32(payload, 'Window Acknowledgement Size'));
    } else if (type === MESSAGE.setPeerBandwidth) {
      this.#setPeerBandwidth(readUInt32(payload, 'Set Peer Bandwidth'));
    } else if (
      type === MESSAGE.userControl &&
      payload.length >= 6 &&
      payload.readUInt16BE(0) === PING_REQUEST
    ) {
      const response = Buffer.from(payload.subarray(0, 6));
      response.writeUInt16BE(PING_RESPONSE);
      this.#write(controlChunkStream, MESSAGE.userControl, response);
    }
  }

  #handleCommand([name, transactionId, ...args]: readonly unknown[]): void {
    if (typeof name !== 'string') throw malformedRtmp('a command without a name');
    const info = args.findLast(arg => arg instanceof Map) as ReadonlyMap<string, unknown> | undefined;
    if (name === '_result') this.#handleResult(transactionId, args);
    else if (name === '_error') this.#handleError(transactionId, info);
    else if (name === 'onStatus') this.#handleStatus(info);
  }

  #handleResult(transactionId: unknown, args: readonly unknown[]): void {
    const { streamKey, fourCc } = this.#options;
    if (transactionId === TRANSACTION.connect) {
      if (fourCc !== undefined && !acceptsFourCc(args, fourCc)) {
        this.#options.onCodecRefused();
        return;
      }
      this.#command(0, 'releaseStream', TRANSACTION.releaseStream, null, streamKey);
      this.#command(0, 'FCPublish', TRANSACTION.fcPublish, null, streamKey);
      this.#command(0, 'createStream', TRANSACTION.createStream, null);
    } else if (transactionId === TRANSACTION.createStream && this.#messageStreamId === 0) {
      const id = args.find(arg => typeof arg === 'number');
      if (id === undefined || !Number.isInteger(id) || id < 1 || id > 0xffffffff)
        throw malformedRtmp('createStream was answered without a stream');
      this.#messageStreamId = id;
      this.#command(id, 'publish', TRANSACTION.publish, null, streamKey, 'live');
    }
  }

  /** Handles an error. Many servers do not know releaseStream and FCPublish. */
  #handleError(transactionId: unknown, info: ReadonlyMap<string, unknown> | undefined): void {
    const isFatal =
      transactionId === TRANSACTION.connect ||
      transactionId === TRANSACTION.createStream ||
      transactionId === TRANSACTION.publish;
    if (isFatal) this.#options.onRefused(statusOf(info));
  }

  #handleStatus(info: ReadonlyMap<string, unknown> | undefined): void {
    const status = statusOf(info);
    if (info?.get('level') === 'error' || refusedCode.test(status.code)) this.#options.onRefused(status);
    else if (status.code === 'NetStream.Publish.Start' && this.#messageStreamId > 0 && !this.#isAccepted) {
      this.#isAccepted = true;
      this.#options.onAccepted();
    }
  }

  #setPeerBandwidth(bytes: number): void {
    if (bytes === this.#peerBandwidth) return;
    this.#peerBandwidth = bytes;
    this.#control(MESSAGE.windowAcknowledgementSize, bytes);
  }

  #command(messageStreamId: number, ...values: readonly AmfValue[]): void {
    this.#options.write(commandBytes(messageStreamId, values));
  }

  #control(type: number, value: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(value % 2 ** 32);
    this.#write(controlChunkStream, type, payload);
  }

  #write(chunkStreamId: number, type: number, payload: Buffer): void {
    this.#options.write(
      writeMessage({ chunkStreamId, type, messageStreamId: 0, timestampMs: 0, payload }, mediaChunkBytes),
    );
  }
}

function commandBytes(messageStreamId: number, values: readonly AmfValue[]): Buffer {
  const [chunkStreamId, type] = [commandChunkStream, MESSAGE.commandAmf0];
  const payload = encodeAmf0(...values);
  return writeMessage({ chunkStreamId, type, messageStreamId, timestampMs: 0, payload }, mediaChunkBytes);
}

function statusOf(info: ReadonlyMap<string, unknown> | undefined): RtmpStatus {
  const text = (name: string) => {
    const value = info?.get(name);
    return typeof value === 'string' ? value : '';
  };
  return { code: text('code'), description: text('description') };
}

/** Servers without a list, such as nginx, accept or ignore what they get. Enhanced RTMP, version 2. */
function acceptsFourCc(args: readonly unknown[], fourCc: string): boolean {
  const lists = args.flatMap(arg => {
    if (!(arg instanceof Map)) return [];
    return ['fourCcList', 'videoFourCcInfoMap'].flatMap(name => {
      const value: unknown = arg.get(name);
      return value instanceof Map
        ? [name === 'fourCcList' ? [...value.values()] : [...value.keys()]]
        : Array.isArray(value)
          ? [value as unknown[]]
          : [];
    });
  });
  return lists.length === 0 || lists.some(list => list.includes(fourCc) || list.includes('*'));
}
