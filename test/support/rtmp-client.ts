import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { type AmfValue, decodeAmf0, encodeAmf0 } from './amf0.ts';
import { waitTimeoutMs } from './deadlines.ts';

export interface RtmpClientOptions {
  readonly host?: string;
  readonly port: number;
  /** `s` unless given. */
  readonly app?: string;
  readonly tcUrl?: string;
  /** RTMPS; any certificate is taken. */
  readonly tls?: boolean;
  /** Further fields of connect's command object, or others in place of the usual ones. */
  readonly connectFields?: Readonly<Record<string, AmfValue>>;
  /** Chunk size to send with, 4096 unless given; 128 without a word when 0. */
  readonly chunkBytes?: number;
}

/** An onStatus of the server. */
export interface RtmpStatus {
  readonly level: string;
  readonly code: string;
  readonly description: string;
}

/** A message of the server. */
export interface ReceivedMessage {
  readonly type: number;
  readonly messageStreamId: number;
  readonly payload: Buffer;
}

/** A message to send. What is left out: chunk stream 3, message stream 0, timestamp 0. */
export interface MessageToSend {
  readonly type: number;
  readonly payload: Buffer;
  readonly messageStreamId?: number;
  readonly chunkStreamId?: number;
  readonly timestampMs?: number;
  /** False leaves extended timestamps out of chunks that continue a message. */
  readonly extendsContinuations?: boolean;
}

const tagTypes = { audio: 8, video: 9, script: 18 } as const;
const chunkStreams = { audio: 4, video: 6, script: 5 } as const;

/**
 * A small RTMP publisher and player for tests, with nothing of the server's code in it.
 *
 *     const client = await RtmpClient.connect({ port, app: 's' });
 *     const status = await client.publish('stream-key'); // NetStream.Publish.Start, or the error
 *     client.sendTag('video', 40, body);
 *     await client.close();
 */
export class RtmpClient {
  readonly socket: Socket;
  /** Messages that the server has sent, oldest first. */
  readonly messages: ReceivedMessage[] = [];
  /** Stream id of createStream's answer. */
  messageStreamId = 1;
  readonly #reader: ReplyReader;
  readonly #waiters = new Set<() => void>();
  readonly #statuses: RtmpStatus[] = [];
  #isClosed = false;
  #transactionId = 1;
  #chunkBytes = 128;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.#reader = new ReplyReader(message => this.#take(message));
    socket.on('data', data => {
      this.#reader.push(data);
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  /** Opens the socket and goes no further. */
  static async open(options: RtmpClientOptions): Promise<RtmpClient> {
    const { host = '127.0.0.1', port, tls = false } = options;
    const socket = tls
      ? connectTls({ host, port, rejectUnauthorized: false })
      : connectTcp({ host, port, noDelay: true });
    await once(socket, tls ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(waitTimeoutMs) });
    return new RtmpClient(socket);
  }

  /** Opens the socket, shakes hands, and has connect answered. @throws when it is not accepted */
  static async connect(options: RtmpClientOptions): Promise<RtmpClient> {
    const client = await RtmpClient.open(options);
    await client.shakeHands();
    const { host = '127.0.0.1', port, app = 's', chunkBytes = 4_096 } = options;
    if (chunkBytes > 0) client.setChunkSize(chunkBytes);
    const tcUrl = options.tcUrl ?? `rtmp://${host}:${port}/${app}`;
    const fields = { app, type: 'nonprivate', flashVer: 'test/1.0', tcUrl, ...options.connectFields };
    await client.call('connect', fields);
    return client;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends C0, C1 and C2, and waits for the server's part. */
  async shakeHands(): Promise<void> {
    this.sendRaw(Buffer.concat([Buffer.from([3]), Buffer.alloc(1536, 1)]));
    await this.until(() => this.#reader.isHandshakeDone, 'the handshake');
    this.sendRaw(Buffer.alloc(1536, 1));
  }

  /** Sends bytes as they are. */
  sendRaw(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  /** Sends a message in chunks of the size set. */
  sendMessage(message: MessageToSend): void {
    this.sendRaw(writeChunks(message, this.#chunkBytes));
  }

  /** Announces a chunk size and uses it from now on. */
  setChunkSize(bytes: number): void {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(bytes);
    this.sendMessage({ type: 1, payload, chunkStreamId: 2 });
    this.#chunkBytes = bytes;
  }

  /** Sends a command with null as command object. Returns its transaction id. */
  sendCommand(name: string, ...args: AmfValue[]): number {
    const transactionId = this.#transactionId++;
    this.sendMessage({ type: 20, payload: encodeAmf0(name, transactionId, null, ...args) });
    return transactionId;
  }

  /** Calls a command and gives what its _result carries after the command object; connect's argument is the command object. @throws on _error */
  async call(name: string, ...args: AmfValue[]): Promise<unknown[]> {
    const transactionId = this.#transactionId++;
    const values = name === 'connect' ? args : [null, ...args];
    this.sendMessage({ type: 20, payload: encodeAmf0(name, transactionId, ...values) });
    const answer = await this.untilFound(() => this.#findAnswer(transactionId), `an answer to ${name}`);
    if (answer[0] === '_error') throw new Error(`${name}: ${JSON.stringify(answer.slice(2))}`);
    return answer.slice(2);
  }

  /** Goes through releaseStream, FCPublish, createStream and publish; gives the first status after it. */
  async publish(name: string): Promise<RtmpStatus> {
    this.sendCommand('releaseStream', name);
    this.sendCommand('FCPublish', name);
    const [, messageStreamId] = await this.call('createStream');
    this.messageStreamId = Number(messageStreamId);
    this.sendPublish(name);
    return this.nextStatus();
  }

  /** Sends publish alone. */
  sendPublish(name: string): void {
    const payload = encodeAmf0('publish', this.#transactionId++, null, name, 'live');
    this.sendMessage({ type: 20, payload, messageStreamId: this.messageStreamId, chunkStreamId: 8 });
  }

  /** Sends an FLV tag body with any timestamp (taken modulo 2^32). Script bodies go as they are, without `@setDataFrame`. */
  sendTag(kind: FlvTag['kind'], timestampMs: number, body: Buffer): void {
    this.sendMessage({
      type: tagTypes[kind],
      payload: body,
      timestampMs,
      messageStreamId: this.messageStreamId,
      chunkStreamId: chunkStreams[kind],
    });
  }

  /**
   * Calls and is answered `count` times, so that the server has had as many turns to read whatever else there is to read.
   * For showing that something does not happen.
   */
  async roundTrips(count: number): Promise<void> {
    for (let done = 0; done < count; done += 1) await this.call('_checkbw');
  }

  /** The next onStatus that was not asked for yet. @throws when the connection closes first */
  async nextStatus(): Promise<RtmpStatus> {
    return this.untilFound(() => this.#statuses.shift(), 'a status');
  }

  /** The first message of a type; see {@link messages} for all. */
  async messageOfType(type: number): Promise<ReceivedMessage> {
    return this.untilFound(
      () => this.messages.find(message => message.type === type),
      `a message of type ${type}`,
    );
  }

  /** Commands of the server by name, each as its decoded values. */
  commands(name: string): unknown[][] {
    return this.messages
      .filter(message => message.type === 20)
      .map(message => decodeAmf0(message.payload))
      .filter(values => values[0] === name);
  }

  /** Stops publishing as encoders do, and closes. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.sendCommand('FCUnpublish', '');
      this.sendCommand('deleteStream', this.messageStreamId);
      this.socket.end();
    }
    await this.closed();
  }

  /** Resolves when the socket is closed, by whichever side. */
  async closed(): Promise<void> {
    const deadlineAtMs = Date.now() + waitTimeoutMs;
    while (!this.#isClosed) await this.#wait(deadlineAtMs, 'the end of the connection');
  }

  /** Drops the connection without a word. */
  destroy(): void {
    this.socket.destroy();
  }

  /** Waits until the condition holds; it is looked at whenever something arrives. @throws after 5 s or when the connection closes */
  async until(condition: () => boolean, what: string): Promise<void> {
    await this.untilFound(() => (condition() ? true : undefined), what);
  }

  /** Waits like {@link until}, for something that is not there at first. */
  async untilFound<Found>(find: () => Found | undefined, what: string): Promise<Found> {
    const deadlineAtMs = Date.now() + waitTimeoutMs;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (this.#isClosed) throw new Error(`closed while waiting for ${what}`);
      await this.#wait(deadlineAtMs, what);
    }
  }

  async #wait(deadlineAtMs: number, what: string): Promise<void> {
    if (Date.now() > deadlineAtMs) throw new Error(`no sign of ${what} in ${waitTimeoutMs} ms`);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.add(resolve);
    const timer = setTimeout(resolve, 20);
    await promise;
    clearTimeout(timer);
    this.#waiters.delete(resolve);
  }

  #wake(): void {
    for (const wake of this.#waiters) wake();
  }

  #take(message: ReceivedMessage): void {
    this.messages.push(message);
    if (message.type !== 20) return;
    const [name, , , info] = decodeAmf0(message.payload);
    if (name === 'onStatus') this.#statuses.push(info as RtmpStatus);
  }

  #findAnswer(transactionId: number): unknown[] | undefined {
    return [...this.commands('_result'), ...this.commands('_error')].find(
      values => values[1] === transactionId,
    );
  }
}

/** Writes a message as one type 0 chunk and as many of type 3 as it takes. */
export function writeChunks(message: MessageToSend, chunkBytes: number): Buffer {
  const { type, payload, messageStreamId = 0, chunkStreamId = 3, extendsContinuations = true } = message;
  const timestampMs = (message.timestampMs ?? 0) >>> 0;
  const isExtended = timestampMs >= 0xffffff;
  const extension = Buffer.alloc(isExtended ? 4 : 0);
  if (isExtended) extension.writeUInt32BE(timestampMs);
  const header = Buffer.alloc(11);
  header.writeUIntBE(isExtended ? 0xffffff : timestampMs, 0, 3);
  header.writeUIntBE(payload.length, 3, 3);
  header[6] = type;
  header.writeUInt32LE(messageStreamId, 7);
  const parts = [writeBasicHeader(0, chunkStreamId), header, extension, payload.subarray(0, chunkBytes)];
  for (let offset = chunkBytes; offset < payload.length; offset += chunkBytes) {
    parts.push(writeBasicHeader(3, chunkStreamId));
    if (extendsContinuations) parts.push(extension);
    parts.push(payload.subarray(offset, offset + chunkBytes));
  }
  return Buffer.concat(parts);
}

/** The one to three bytes that begin a chunk. `format` is 0..3, `chunkStreamId` 2..65599. */
export function writeBasicHeader(format: number, chunkStreamId: number): Buffer {
  const head = format << 6;
  if (chunkStreamId < 64) return Buffer.from([head | chunkStreamId]);
  const rest = chunkStreamId - 64;
  return rest < 256 ? Buffer.from([head, rest]) : Buffer.from([head | 1, rest & 0xff, rest >> 8]);
}

/** Reads the tags of an FLV file. @throws when it is cut off */
export function readFlvTags(flv: Buffer): FlvTag[] {
  const tags: FlvTag[] = [];
  let offset = flv.readUInt32BE(5) + 4;
  while (offset < flv.length) {
    const type = flv[offset]!;
    const start = offset + 11;
    const end = start + flv.readUIntBE(offset + 1, 3);
    const timestampMs = flv.readUIntBE(offset + 4, 3) + flv[offset + 7]! * 0x1000000;
    const kind = type === tagTypes.audio ? 'audio' : type === tagTypes.video ? 'video' : 'script';
    if (end + 4 > flv.length) throw new Error(`the FLV is cut off at ${offset}`);
    tags.push({ kind, timestampMs, body: flv.subarray(start, end) });
    offset = end + 4;
  }
  return tags;
}

/** Takes the server's handshake and chunks apart: of chunk streams below 64, where no message interrupts another. */
class ReplyReader {
  isHandshakeDone = false;
  readonly #onMessage: (message: ReceivedMessage) => void;
  #bytes: Buffer = Buffer.alloc(0);
  #chunkBytes = 128;
  readonly #headers = new Map<number, Buffer>();
  #unfinished: { parts: Buffer[]; left: number } | undefined;

  constructor(onMessage: (message: ReceivedMessage) => void) {
    this.#onMessage = onMessage;
  }

  push(data: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, data]);
    if (!this.isHandshakeDone) {
      if (this.#bytes.length < 1 + 1536 + 1536) return;
      this.#bytes = this.#bytes.subarray(1 + 1536 + 1536);
      this.isHandshakeDone = true;
    }
    while (this.#readChunk()) {}
  }

  #readChunk(): boolean {
    if (this.#bytes.length === 0) return false;
    const format = this.#bytes[0]! >> 6;
    const headerBytes = [12, 8, 4, 1][format]!;
    if (this.#bytes.length < headerBytes) return false;
    const chunkStreamId = this.#bytes[0]! & 0x3f;
    const isNew = format !== 3;
    // Headers that are shorter continue from the last one of their chunk stream.
    const rest = this.#headers.get(chunkStreamId)?.subarray(headerBytes - 1) ?? Buffer.alloc(0);
    const header = Buffer.concat([this.#bytes.subarray(1, headerBytes), rest]);
    const left = isNew ? header.readUIntBE(3, 3) : this.#unfinished!.left;
    const count = Math.min(left, this.#chunkBytes);
    if (this.#bytes.length < headerBytes + count) return false;
    const parts = [
      ...(isNew ? [] : this.#unfinished!.parts),
      this.#bytes.subarray(headerBytes, headerBytes + count),
    ];
    this.#bytes = this.#bytes.subarray(headerBytes + count);
    this.#headers.set(chunkStreamId, header);
    this.#unfinished = { parts, left: left - count };
    if (left === count) this.#finish(header, Buffer.concat(parts));
    return true;
  }

  #finish(header: Buffer, payload: Buffer): void {
    const type = header[6]!;
    if (type === 1) this.#chunkBytes = payload.readUInt32BE();
    this.#onMessage({ type, messageStreamId: header.readUInt32LE(7), payload });
  }
}
