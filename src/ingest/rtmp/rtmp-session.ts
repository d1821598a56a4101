import type { Socket } from 'node:net';
import type { FlvTag } from '../../media/flv/flv-tag.ts';
import { splitAggregate } from '../../media/rtmp/aggregate-message.ts';
import { MESSAGE, malformedRtmp, type RtmpMessage } from '../../media/rtmp/chunk-reader.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { maskStreamKey } from '../../shared/secret.ts';
import type { IngestObserver } from '../ingest-observer.ts';
import type {
  EndCode,
  PublishDecision,
  PublisherCloseReason,
  PublisherConnection,
  PublisherSink,
  PublishGate,
  PublishRequest,
} from '../publish-gate.ts';
import { type Command, type ConnectInfo, decodeCommand, printable, readConnect, textOf } from './commands.ts';
import { MessageRateLimiter } from './message-rate-limiter.ts';
import { RtmpTransport } from './rtmp-transport.ts';
import { resolveStreamPath } from './stream-path.ts';

/** Why a connection ended: as its publisher did, or before it had one. */
export type ConnectionCloseReason =
  | PublisherCloseReason
  | 'handshake-timeout'
  | 'publish-timeout'
  | 'publish-refused'
  | 'play-refused'
  | 'slow-reader';

/** What a session needs from the listener that accepted it. */
export interface SessionOptions {
  readonly socket: Socket;
  readonly connectionId: string;
  readonly protocol: 'rtmp' | 'rtmps';
  readonly remoteAddress: string;
  /** Longest from the opening to the end of the handshake, from there to publish, and from publish to the gate's answer. */
  readonly handshakeTimeoutMs: number;
  /** Longest that a publisher may send nothing. */
  readonly idleTimeoutMs: number;
  /** Longest audio or video message. */
  readonly maxMessageBytes: number;
  /** Maximum messages per second, averaged over ten. */
  readonly maxMessageRate: number;
  readonly gate: PublishGate;
  readonly log: Logger;
  readonly observer: IngestObserver;
  /** When the connection was opened, as {@link RtmpSession.checkTimeouts} counts. */
  readonly openedAtMs: number;
  readonly isDraining: () => boolean;
}

/** What the broadcaster reads when the server is about to go. */
export const DRAINING_DESCRIPTION = 'The server is restarting, please reconnect in a moment.';

/** Commands are a few hundred bytes; more would only be work to decode. */
const maxCommandBytes = 16 * 1024;
const maxOtherMessageBytes = 256 * 1024;
/** What may be begun and unfinished before anybody has said that this peer may publish. */
const maxUnfinishedBytes = 512 * 1024;
const maxUnsentReplyBytes = 64 * 1024;
/** Time for the peer to read the last status before the socket is gone. */
const lingerMs = 1_000;

/** `@setDataFrame` as an AMF0 string: publishers put it before the metadata, FLV files do not have it. */
const setDataFrame = Buffer.from('\x02\x00\x0d@setDataFrame', 'latin1');

/** One stream that is asked for or being published on the connection. */
interface Publication {
  readonly messageStreamId: number;
  readonly streamKey: string;
  /** Undefined until the gate has accepted. */
  sink: PublisherSink | undefined;
  isPaused: boolean;
  /** Set when it is over, also before the gate answers. */
  closeReason: PublisherCloseReason | undefined;
  tags: number;
  emptyMessages: number;
}

/**
 * One RTMP connection: answers the encoder's commands, asks the gate, and hands the tags of an accepted publisher to its sink.
 * Whatever goes wrong inside ends this connection and nothing else.
 *
 * **Source**: Adobe's Real Time Messaging Protocol 1.0; Enhanced RTMP (Veovera), version 2, "Enhancing NetConnection connect Command".
 */
export class RtmpSession {
  readonly #options: SessionOptions;
  readonly #socket: Socket;
  readonly #log: Logger;
  readonly #transport: RtmpTransport;
  readonly #rateLimiter: MessageRateLimiter;
  #isTurnOver = false;
  #connect: ConnectInfo | undefined;
  #publication: Publication | undefined;
  #closeReason: ConnectionCloseReason | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;
  #phaseSinceMs: number;
  #bytesAtLastCheck = 0;
  #quietSinceMs: number;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#log = options.log;
    this.#phaseSinceMs = options.openedAtMs;
    this.#quietSinceMs = options.openedAtMs;
    this.#rateLimiter = new MessageRateLimiter(options.maxMessageRate, isOver => {
      this.#isTurnOver = isOver;
      this.#guard(() => this.#updateFlow());
    });
    this.#transport = new RtmpTransport(
      bytes => this.#socket.write(bytes),
      {
        maxMessageBytes: type => this.#maxMessageBytes(type),
        maxUnfinishedBytes: () => (this.#isPublishing ? options.maxMessageBytes * 2 : maxUnfinishedBytes),
        onMessageStart: () => this.#rateLimiter.count(),
      },
      message => this.#takeMessage(message),
    );
  }

  /** Why the connection ended, or undefined while it is open. */
  get closeReason(): ConnectionCloseReason | undefined {
    return this.#closeReason;
  }

  /** Takes bytes that the peer sent. Never throws. */
  receive(data: Buffer): void {
    if (this.#closeReason !== undefined) return;
    this.#guard(() => {
      const wasHandshakeDone = this.#transport.isHandshakeDone;
      this.#transport.push(data);
      if (!wasHandshakeDone && this.#transport.isHandshakeDone) this.#phaseSinceMs = performance.now();
    });
  }

  /** The peer will send no more. */
  peerEnded(): void {
    this.#close('connection-closed');
    this.#linger();
  }

  /** The socket is gone. */
  socketClosed(reason: 'connection-closed' | 'connection-error'): void {
    this.#close(reason);
    clearTimeout(this.#lingerTimer);
  }

  /** Ends the connection when it has been quiet or idle for too long. `nowMs` is of `performance.now()`. */
  checkTimeouts(nowMs: number): void {
    if (this.#closeReason !== undefined) return;
    const publication = this.#publication;
    // Nothing can arrive while we do not read.
    if (this.#transport.bytesIn !== this.#bytesAtLastCheck || publication?.isPaused === true) {
      this.#bytesAtLastCheck = this.#transport.bytesIn;
      this.#quietSinceMs = nowMs;
    }
    if (publication?.sink !== undefined) {
      if (nowMs - this.#quietSinceMs >= this.#options.idleTimeoutMs) this.#fail('idle-timeout');
    } else if (nowMs - this.#phaseSinceMs >= this.#options.handshakeTimeoutMs) {
      this.#fail(this.#transport.isHandshakeDone ? 'publish-timeout' : 'handshake-timeout');
    }
  }

  /** Tells the peer that the server goes, and closes. */
  stop(): void {
    if (this.#closeReason !== undefined) return;
    const publication = this.#publication;
    this.#guard(() => {
      if (publication?.sink !== undefined) {
        this.#sendStatus(publication, 'error', 'NetStream.Publish.Rejected', DRAINING_DESCRIPTION);
      }
    });
    this.#closeGently('server-stopped');
  }

  get #isPublishing(): boolean {
    return this.#publication?.sink !== undefined;
  }

  #maxMessageBytes(type: number): number {
    if (type === MESSAGE.commandAmf0 || type === MESSAGE.commandAmf3) return maxCommandBytes;
    const isMedia = type === MESSAGE.audio || type === MESSAGE.video || type === MESSAGE.aggregate;
    return isMedia && this.#isPublishing ? this.#options.maxMessageBytes : maxOtherMessageBytes;
  }

  /** Runs what may throw on the peer's account; replies go out in one write. */
  #guard(work: () => void): void {
    this.#socket.cork();
    try {
      work();
    } catch (error) {
      this.#fail('protocol-error', { error: messageOf(error) });
    } finally {
      this.#socket.uncork();
    }
    if (this.#socket.writableLength > maxUnsentReplyBytes) this.#fail('slow-reader');
  }

  #takeMessage(message: RtmpMessage): void {
    const { type, payload } = message;
    switch (type) {
      case MESSAGE.audio:
      case MESSAGE.video:
        this.#deliver(type === MESSAGE.audio ? 'audio' : 'video', message.timestampMs, payload);
        break;
      case MESSAGE.dataAmf0:
        this.#deliverScript(message.timestampMs, payload);
        break;
      case MESSAGE.dataAmf3:
        this.#deliverScript(message.timestampMs, afterFormatByte(payload));
        break;
      case MESSAGE.aggregate:
        this.#deliverAggregate(message);
        break;
      case MESSAGE.commandAmf0:
        this.#takeCommand(decodeCommand(payload), message.messageStreamId);
        break;
      case MESSAGE.commandAmf3:
        this.#takeCommand(decodeCommand(afterFormatByte(payload)), message.messageStreamId);
        break;
    }
  }

  #deliver(kind: FlvTag['kind'], timestampMs: number, body: Buffer): void {
    const publication = this.#publication;
    if (publication?.sink === undefined) return;
    if (body.length === 0) {
      publication.emptyMessages += 1;
      return;
    }
    publication.tags += 1;
    try {
      publication.sink.tag({ kind, timestampMs, body });
    } catch (error) {
      this.#log.error('sink-failed', { error });
      this.#fail('ended-by-server');
    }
  }

  #deliverScript(timestampMs: number, payload: Buffer): void {
    const hasPrefix = payload.subarray(0, setDataFrame.length).equals(setDataFrame);
    this.#deliver('script', timestampMs, hasPrefix ? payload.subarray(setDataFrame.length) : payload);
  }

  #deliverAggregate(message: RtmpMessage): void {
    for (const tag of splitAggregate(message.payload, message.timestampMs)) {
      if (tag.type === MESSAGE.audio) this.#deliver('audio', tag.timestampMs, tag.body);
      else if (tag.type === MESSAGE.video) this.#deliver('video', tag.timestampMs, tag.body);
      else if (tag.type === MESSAGE.dataAmf0) this.#deliverScript(tag.timestampMs, tag.body);
    }
  }

  #takeCommand(command: Command, messageStreamId: number): void {
    const { name, transactionId, args } = command;
    if (name === 'connect') {
      this.#takeConnect(command);
      return;
    }
    if (this.#connect === undefined) throw malformedRtmp('a command before connect');
    switch (name) {
      case 'createStream':
        this.#transport.acceptCreateStream(transactionId);
        break;
      case 'releaseStream':
      case '_checkbw':
        this.#transport.sendResult(transactionId);
        break;
      case 'FCPublish':
        this.#transport.sendResult(transactionId);
        this.#transport.sendOnFcPublish(textOf(args[1]));
        break;
      case 'getStreamLength':
        this.#transport.sendResult(transactionId, 0);
        break;
      case 'publish':
        this.#takePublish(this.#connect, textOf(args[1]), messageStreamId);
        break;
      case 'play':
      case 'play2':
        this.#refusePlay(messageStreamId);
        break;
      case 'FCUnpublish':
        this.#unpublish();
        this.#transport.sendResult(transactionId);
        break;
      case 'deleteStream':
        if (args[1] === undefined || args[1] === this.#publication?.messageStreamId) this.#unpublish();
        break;
      case 'closeStream':
        if (messageStreamId === this.#publication?.messageStreamId) this.#unpublish();
        break;
      case '_result':
      case '_error':
      case 'onStatus':
        break;
      default:
        this.#log.debug('command-unknown', { command: printable(name).slice(0, 32) });
        this.#transport.sendCallFailed(transactionId);
    }
  }

  #takeConnect(command: Command): void {
    if (this.#connect !== undefined) throw malformedRtmp('a second connect');
    this.#connect = readConnect(command);
    this.#transport.acceptConnect(command.transactionId, this.#connect);
  }

  #takePublish(connect: ConnectInfo, name: string, messageStreamId: number): void {
    if (this.#publication !== undefined) throw malformedRtmp('a second publish');
    const { protocol, connectionId, remoteAddress } = this.#options;
    const path = resolveStreamPath(connect.app, name);
    const publication: Publication = {
      messageStreamId,
      streamKey: path.ok ? path.streamKey : '',
      sink: undefined,
      isPaused: false,
      closeReason: undefined,
      tags: 0,
      emptyMessages: 0,
    };
    this.#publication = publication;
    if (this.#options.isDraining()) {
      this.#refusePublish(publication, 'server-draining', DRAINING_DESCRIPTION);
      return;
    }
    if (!path.ok) {
      this.#refusePublish(publication, path.reason, path.description);
      return;
    }
    this.#phaseSinceMs = performance.now();
    this.#updateFlow();
    const { app, streamKey } = path;
    const { encoder, fourCcList } = connect;
    const request = { connectionId, protocol, remoteAddress, app, streamKey, encoder, fourCcList };
    void this.#askGate(publication, request);
  }

  async #askGate(publication: Publication, request: PublishRequest): Promise<void> {
    try {
      const decision = await this.#options.gate.request(request, this.#connectionOf(publication));
      this.#guard(() => this.#takeDecision(publication, decision));
    } catch (error) {
      this.#log.error('gate-failed', { error });
      const description = 'The server cannot take the stream at the moment.';
      this.#guard(() => this.#refusePublish(publication, 'gate-failed', description));
    }
  }

  #connectionOf(publication: Publication): PublisherConnection {
    const session = this;
    return {
      connectionId: this.#options.connectionId,
      remoteAddress: this.#options.remoteAddress,
      get bytesIn() {
        return session.#transport.bytesIn;
      },
      end: (code, description) => this.#endPublication(publication, code, description),
      pause: () => this.#setPaused(publication, true),
      resume: () => this.#setPaused(publication, false),
    };
  }

  #takeDecision(publication: Publication, decision: PublishDecision): void {
    if (!decision.accepted) {
      this.#refusePublish(publication, decision.reason, decision.description);
      return;
    }
    if (publication.closeReason !== undefined) {
      this.#tellClosed(decision.sink, publication.closeReason);
      return;
    }
    publication.sink = decision.sink;
    this.#quietSinceMs = performance.now();
    this.#options.observer.publisherOpened();
    this.#log.info('publisher-opened', this.#describe(publication));
    this.#transport.sendStreamBegin(publication.messageStreamId);
    this.#sendStatus(publication, 'status', 'NetStream.Publish.Start', 'Publishing.');
    this.#updateFlow();
  }

  #refusePublish(publication: Publication, reason: string, description: string): void {
    if (publication.closeReason !== undefined) return;
    this.#options.observer.refused(reason);
    this.#log.warn('publish-refused', { ...this.#describe(publication), reason });
    this.#sendStatus(publication, 'error', 'NetStream.Publish.BadName', description);
    this.#closeGently('publish-refused');
  }

  #refusePlay(messageStreamId: number): void {
    this.#options.observer.refused('play');
    this.#log.info('play-refused', { encoder: this.#connect?.encoder });
    this.#transport.sendStatus(
      messageStreamId,
      'error',
      'NetStream.Play.Failed',
      'This server does not play over RTMP. Viewers watch over HLS.',
    );
    this.#closeGently('play-refused');
  }

  #endPublication(publication: Publication, code: EndCode, description: string): void {
    if (publication.closeReason !== undefined) return;
    this.#guard(() => this.#sendStatus(publication, 'error', code, description));
    this.#closeGently('ended-by-server');
  }

  /** The encoder stops; it may publish again on the same connection. */
  #unpublish(): void {
    const publication = this.#publication;
    if (publication === undefined) return;
    this.#closePublication('unpublished');
    this.#phaseSinceMs = performance.now();
    this.#sendStatus(publication, 'status', 'NetStream.Unpublish.Success', 'The stream has ended.');
  }

  #sendStatus(publication: Publication, level: 'status' | 'error', code: string, description: string): void {
    this.#transport.sendStatus(publication.messageStreamId, level, code, description);
  }

  #setPaused(publication: Publication, isPaused: boolean): void {
    publication.isPaused = isPaused;
    if (publication.closeReason === undefined) this.#guard(() => this.#updateFlow());
  }

  /** Reads on, or leaves all in the socket while the gate thinks, the sink has enough, or others have their turn. */
  #updateFlow(): void {
    if (this.#closeReason !== undefined) return;
    const publication = this.#publication;
    const isWaiting = publication !== undefined && (publication.sink === undefined || publication.isPaused);
    if (isWaiting || this.#isTurnOver) {
      this.#transport.hold();
      this.#socket.pause();
    } else {
      this.#socket.resume();
      this.#transport.release();
    }
  }

  /** Ends at once, without a word to the peer. */
  #fail(reason: ConnectionCloseReason, data: { error?: string } = {}): void {
    if (this.#closeReason !== undefined) return;
    const { encoder } = this.#connect ?? {};
    this.#log.info('connection-failed', { reason, ...data, encoder, bytesIn: this.#transport.bytesIn });
    this.#close(reason);
    this.#socket.destroy();
  }

  /** Ends after what was written; what still comes is read and dropped, since unread bytes would make the close a reset. */
  #closeGently(reason: ConnectionCloseReason): void {
    if (this.#closeReason !== undefined) return;
    this.#close(reason);
    this.#socket.end();
    this.#socket.resume();
    this.#linger();
  }

  /** Bounds how long the peer may take to read what was written last. */
  #linger(): void {
    this.#lingerTimer ??= setTimeout(() => this.#socket.destroy(), lingerMs);
  }

  #close(reason: ConnectionCloseReason): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#transport.close();
    this.#closePublication(publisherReasonOf(reason));
  }

  #closePublication(reason: PublisherCloseReason): void {
    const publication = this.#publication;
    if (publication === undefined) return;
    this.#publication = undefined;
    publication.closeReason = reason;
    if (publication.sink === undefined) return;
    this.#options.observer.publisherClosed(reason);
    const { tags, emptyMessages } = publication;
    const data = { reason, bytesIn: this.#transport.bytesIn, tags, emptyMessages };
    this.#log.info('publisher-closed', { ...this.#describe(publication), ...data });
    this.#tellClosed(publication.sink, reason);
  }

  #tellClosed(sink: PublisherSink, reason: PublisherCloseReason): void {
    try {
      sink.closed(reason);
    } catch (error) {
      this.#log.error('sink-failed', { error });
    }
  }

  #describe(publication: Publication): Record<string, unknown> {
    return { streamKey: maskStreamKey(publication.streamKey), encoder: this.#connect?.encoder };
  }
}

/** What a connection's end means to its publisher. */
function publisherReasonOf(reason: ConnectionCloseReason): PublisherCloseReason {
  switch (reason) {
    case 'handshake-timeout':
    case 'publish-timeout':
    case 'publish-refused':
    case 'play-refused':
      return 'ended-by-server';
    case 'slow-reader':
      return 'connection-error';
    default:
      return reason;
  }
}

/** AMF3 messages say their format in the first byte: 0 is AMF0. */
function afterFormatByte(payload: Buffer): Buffer {
  return payload[0] === 0 ? payload.subarray(1) : payload;
}
