import Rtmp from 'node-media-server/src/protocol/rtmp.js';
import {
  type ChunkLimits,
  ChunkReader,
  MESSAGE,
  malformedRtmp,
  type RtmpMessage,
  readUInt32,
} from '../../media/rtmp/chunk-reader.ts';
import { type ConnectInfo, printable } from './commands.ts';

const rtmpVersion = 3;
/** C0, C1 and C2. */
const handshakeBytes = 1 + 2 * 1536;
const windowBytes = 5_000_000;
const dynamicBandwidth = 2;
const ourChunkBytes = 0xffff;
const streamBegin = 0;
const pingRequest = 6;
const pingResponse = 7;

/** ffmpeg shows nothing of longer descriptions. */
const maxDescriptionLength = 255;

/** Answers control messages; media, data and commands go to `onMessage`. RTMP 1.0, sections 5, 6.2 and 7. */
export class RtmpTransport {
  readonly #rtmp = new Rtmp();
  readonly #reader: ChunkReader;
  readonly #onMessage: (message: RtmpMessage) => void;
  #bytesIn = 0;
  #ackWindowBytes = 0;
  #ackedBytes = 0;

  constructor(
    write: (bytes: Buffer) => void,
    limits: ChunkLimits,
    onMessage: (message: RtmpMessage) => void,
  ) {
    this.#onMessage = onMessage;
    this.#reader = new ChunkReader(limits, message => this.#handleMessage(message));
    // Frees 1 MiB for reading FLV files.
    this.#rtmp.flv = undefined;
    this.#rtmp.onOutputCallback = write;
  }

  get bytesIn(): number {
    return this.#bytesIn;
  }

  get isHandshakeDone(): boolean {
    return this.#bytesIn >= handshakeBytes;
  }

  /** Does not keep `data`. @throws on anything that is not RTMP, and errors of `onMessage` */
  push(data: Buffer): void {
    if (this.isHandshakeDone) {
      this.#bytesIn += data.length;
      this.#reader.push(data);
    } else this.#pushHandshake(data);
    this.#acknowledge();
  }

  hold(): void {
    this.#reader.hold();
  }

  release(): void {
    this.#reader.release();
  }

  close(): void {
    this.#reader.close();
  }

  /** Echoes the Enhanced RTMP properties of the encoder. */
  acceptConnect(transactionId: number, connect: ConnectInfo): void {
    this.#rtmp.sendWindowACK(windowBytes);
    this.#rtmp.setPeerBandwidth(windowBytes, dynamicBandwidth);
    this.#rtmp.setChunkSize(ourChunkBytes);
    this.#rtmp.sendInvokeMessage(0, {
      cmd: '_result',
      transId: transactionId,
      cmdObj: { fmsVer: 'FMS/3,5,7,7009', capabilities: 31, ...connect.capabilities },
      info: {
        level: 'status',
        code: 'NetConnection.Connect.Success',
        description: 'Connection succeeded.',
        objectEncoding: connect.objectEncoding,
      },
    });
  }

  acceptCreateStream(transactionId: number): void {
    this.#rtmp.respondCreateStream(transactionId);
  }

  /** Transaction 0 expects no answer. */
  sendResult(transactionId: number, info?: number): void {
    if (transactionId === 0) return;
    const result = { cmd: '_result', transId: transactionId, cmdObj: null };
    this.#rtmp.sendInvokeMessage(0, info === undefined ? result : { ...result, info });
  }

  sendCallFailed(transactionId: number): void {
    if (transactionId === 0) return;
    const description = 'This server has no such method.';
    const info = { level: 'error', code: 'NetConnection.Call.Failed', description };
    this.#rtmp.sendInvokeMessage(0, { cmd: '_error', transId: transactionId, cmdObj: null, info });
  }

  /** Flash Media Live Encoder waits for this before it publishes; it does not accept the publisher. */
  sendOnFcPublish(name: string): void {
    const description = printable(name).slice(0, maxDescriptionLength);
    const info = { level: 'status', code: 'NetStream.Publish.Start', description };
    this.#rtmp.sendInvokeMessage(0, { cmd: 'onFCPublish', transId: 0, cmdObj: null, info });
  }

  sendStreamBegin(messageStreamId: number): void {
    this.#rtmp.sendStreamStatus(streamBegin, messageStreamId);
  }

  /** Replaces all but printable ASCII in the description by `?`. */
  sendStatus(messageStreamId: number, level: 'status' | 'error', code: string, description: string): void {
    const text = printable(description).slice(0, maxDescriptionLength);
    this.#rtmp.sendStatusMessage(messageStreamId, level, code, text);
  }

  #pushHandshake(data: Buffer): void {
    if (this.#bytesIn === 0 && data[0] !== rtmpVersion) throw malformedRtmp(`version ${data[0]}`);
    const handshake = data.subarray(0, handshakeBytes - this.#bytesIn);
    this.#bytesIn += data.length;
    this.#rtmp.parserData(handshake);
    if (handshake.length < data.length) this.#reader.push(data.subarray(handshake.length));
  }

  #acknowledge(): void {
    if (this.#ackWindowBytes === 0 || this.#bytesIn - this.#ackedBytes < this.#ackWindowBytes) return;
    this.#ackedBytes = this.#bytesIn;
    this.#rtmp.sendACK(this.#bytesIn % 2 ** 32);
  }

  #handleMessage(message: RtmpMessage): void {
    if (message.type === MESSAGE.windowAcknowledgementSize) {
      this.#ackWindowBytes = readUInt32(message.payload, 'Window Acknowledgement Size');
    } else if (message.type === MESSAGE.userControl) {
      this.#handleUserControl(message.payload);
    } else {
      this.#onMessage(message);
    }
  }

  #handleUserControl(payload: Buffer): void {
    if (payload.length < 2) throw malformedRtmp(`User Control of ${payload.length} bytes`);
    if (payload.readUInt16BE(0) !== pingRequest) return;
    this.#rtmp.sendStreamStatus(pingResponse, readUInt32(payload.subarray(2), 'Ping Request'));
  }
}
