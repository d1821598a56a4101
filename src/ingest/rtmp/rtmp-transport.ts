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
const handshakeDone = 3;
const windowBytes = 5_000_000;
const dynamicBandwidth = 2;
const ourChunkBytes = 0xffff;
const streamBegin = 0;
const pingRequest = 6;
const pingResponse = 7;

/** ffmpeg shows a description of at most 255 characters, and nothing of a longer one. */
const maxDescriptionLength = 255;

/**
 * The bytes of one RTMP connection: handshake and message writers of node-media-server's protocol class, our chunk reader.
 * Control messages are answered here; media, data and commands go to `onMessage`.
 *
 * **Source**: Adobe's Real Time Messaging Protocol 1.0, sections 5, 6.2 and 7.
 */
export class RtmpTransport {
  readonly #rtmp = new Rtmp();
  readonly #reader: ChunkReader;
  readonly #onMessage: (message: RtmpMessage) => void;
  #bytesIn = 0;
  #isHandshakeDone = false;
  #ackWindowBytes = 0;
  #ackedBytes = 0;

  constructor(
    write: (bytes: Buffer) => void,
    limits: ChunkLimits,
    onMessage: (message: RtmpMessage) => void,
  ) {
    this.#onMessage = onMessage;
    this.#reader = new ChunkReader(limits, message => this.#takeMessage(message));
    // 1 MiB for reading FLV files, allocated by the constructor.
    this.#rtmp.flv = undefined;
    this.#rtmp.onOutputCallback = write;
    this.#rtmp.chunkRead = (data, offset, length) => {
      this.#reader.push(data.subarray(offset, offset + length));
      return null;
    };
  }

  /** Bytes received so far, handshake included. */
  get bytesIn(): number {
    return this.#bytesIn;
  }

  get isHandshakeDone(): boolean {
    return this.#isHandshakeDone;
  }

  /** Takes bytes that the peer sent. @throws on all that is not RTMP, and what `onMessage` throws */
  push(data: Buffer): void {
    if (this.#bytesIn === 0 && data[0] !== rtmpVersion) throw malformedRtmp(`version ${data[0]}`);
    this.#bytesIn += data.length;
    if (this.#isHandshakeDone) {
      this.#reader.push(data);
    } else {
      this.#rtmp.parserData(data);
      this.#isHandshakeDone = this.#rtmp.handshakeState === handshakeDone;
    }
    this.#acknowledge();
  }

  /** No further message until {@link release}. */
  hold(): void {
    this.#reader.hold();
  }

  /** Goes on after {@link hold}. @throws as {@link push} */
  release(): void {
    this.#reader.release();
  }

  /** No further message ever. */
  close(): void {
    this.#reader.close();
  }

  /** Accepts connect, with what Enhanced RTMP the encoder asked for. */
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

  /** Answers a call with null, or with null and a number; a caller with transaction 0 wants no answer. */
  sendResult(transactionId: number, info?: number): void {
    if (transactionId === 0) return;
    const result = { cmd: '_result', transId: transactionId, cmdObj: null };
    this.#rtmp.sendInvokeMessage(0, info === undefined ? result : { ...result, info });
  }

  /** Answers a call of a method that we do not have. */
  sendCallFailed(transactionId: number): void {
    if (transactionId === 0) return;
    const description = 'This server has no such method.';
    const info = { level: 'error', code: 'NetConnection.Call.Failed', description };
    this.#rtmp.sendInvokeMessage(0, { cmd: '_error', transId: transactionId, cmdObj: null, info });
  }

  /** Flash Media Live Encoder waits for this before it publishes; it says nothing of whether it may. */
  sendOnFcPublish(name: string): void {
    const description = printable(name).slice(0, maxDescriptionLength);
    const info = { level: 'status', code: 'NetStream.Publish.Start', description };
    this.#rtmp.sendInvokeMessage(0, { cmd: 'onFCPublish', transId: 0, cmdObj: null, info });
  }

  sendStreamBegin(messageStreamId: number): void {
    this.#rtmp.sendStreamStatus(streamBegin, messageStreamId);
  }

  /** Sends onStatus. What is not printable ASCII in the description becomes `?`. */
  sendStatus(messageStreamId: number, level: 'status' | 'error', code: string, description: string): void {
    const text = printable(description).slice(0, maxDescriptionLength);
    this.#rtmp.sendStatusMessage(messageStreamId, level, code, text);
  }

  #acknowledge(): void {
    if (this.#ackWindowBytes === 0 || this.#bytesIn - this.#ackedBytes < this.#ackWindowBytes) return;
    this.#ackedBytes = this.#bytesIn;
    this.#rtmp.sendACK(this.#bytesIn % 2 ** 32);
  }

  #takeMessage(message: RtmpMessage): void {
    if (message.type === MESSAGE.windowAcknowledgementSize) {
      this.#ackWindowBytes = readUInt32(message.payload, 'Window Acknowledgement Size');
    } else if (message.type === MESSAGE.userControl) {
      this.#takeUserControl(message.payload);
    } else {
      this.#onMessage(message);
    }
  }

  #takeUserControl(payload: Buffer): void {
    if (payload.length < 2) throw malformedRtmp(`User Control of ${payload.length} bytes`);
    if (payload.readUInt16BE(0) !== pingRequest) return;
    this.#rtmp.sendStreamStatus(pingResponse, readUInt32(payload.subarray(2), 'Ping Request'));
  }
}
