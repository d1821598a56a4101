import type { Socket } from 'node:net';
import { MESSAGE, malformedRtmp, type RtmpMessage } from '../../media/rtmp/chunk-reader.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { IngestObserver } from '../ingest-observer.ts';
import type {
  PublishDecision,
  PublisherCloseReason,
  PublisherConnection,
  PublisherEndReason,
  PublishGate,
  PublishRequest,
} from '../publish-gate.ts';
import { type Command, type ConnectInfo, decodeCommand, printable, readConnect, textOf } from './commands.ts';
import { MessageRateLimiter } from './message-rate-limiter.ts';
import { Publication, skipAmf3Format } from './publication.ts';
import { RtmpTransport } from './rtmp-transport.ts';
import { resolveStreamPath } from './stream-path.ts';

type ConnectionCloseReason =
  | PublisherCloseReason
  | 'handshake-timeout'
  | 'publish-timeout'
  | 'publish-refused'
  | 'play-refused'
  | 'slow-reader';

export interface SessionSettings {
  /** Limits each of: open to handshake, handshake to publish. */
  readonly handshakeTimeoutMs: number;
  /** From publish to the gate's answer. */
  readonly gateTimeoutMs: number;
  /** Ends a publisher that sends nothing for this long. */
  readonly idleTimeoutMs: number;
  readonly maxMessageBytes: number;
  readonly maxMessageRate: number;
  readonly gate: PublishGate;
  readonly log: Logger;
}

interface SessionOptions extends SessionSettings {
  readonly socket: Socket;
  readonly connectionId: string;
  readonly protocol: 'rtmp' | 'rtmps';
  readonly remoteAddress: string;
  readonly observer: IngestObserver;
  /** `performance.now()`. */
  readonly openedAtMs: number;
  readonly isDraining: () => boolean;
}

/** librtmp, which OBS has, logs the text of a rejection. */
const endCodes = {
  'ended-by-server': 'NetStream.Publish.Rejected',
  'idle-timeout': 'NetStream.Publish.Idle',
} as const;
const drainingDescription = 'The server is restarting. Reconnect in a moment.';
/** Commands are a few hundred bytes. */
const maxCommandBytes = 16 * 1024;
const maxOtherMessageBytes = 256 * 1024;
/** For all incomplete messages before the gate has accepted the publisher. */
const maxUnfinishedBytes = 512 * 1024;
const maxUnsentReplyBytes = 64 * 1024;
/** While the gate decides. */
const maxHeldBytes = 64 * 1024;
/** Time for the peer to read the last status before the socket is destroyed. */
const lingerMs = 1_000;

/** Errors end this connection only. RTMP 1.0; Enhanced RTMP, version 2, "Enhancing NetConnection connect Command". */
export class RtmpSession {
  readonly #options: SessionOptions;
  readonly #socket: Socket;
  readonly #log: Logger;
  readonly #transport: RtmpTransport;
  readonly #rateLimiter: MessageRateLimiter;
  #isThrottled = false;
  #connect: ConnectInfo | undefined;
  #publication: Publication | undefined;
  #closeReason: ConnectionCloseReason | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;
  #phaseSinceMs: number;
  #bytesAtLastCheck = 0;
  #bytesAtPublish = 0;
  #quietSinceMs: number;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#log = options.log;
    this.#phaseSinceMs = options.openedAtMs;
    this.#quietSinceMs = options.openedAtMs;
    this.#rateLimiter = new MessageRateLimiter(options.maxMessageRate, isOver => {
      this.#isThrottled = isOver;
      this.#guard(() => this.#updateFlow());
    });
    this.#transport = new RtmpTransport(
      bytes => this.#socket.write(bytes),
      {
        maxMessageBytes: type => this.#maxMessageBytes(type),
        maxUnfinishedBytes: () => (this.#isPublishing ? options.maxMessageBytes * 2 : maxUnfinishedBytes),
        onMessageStart: () => this.#rateLimiter.count(),
      },
      message => this.#handleMessage(message),
    );
  }

  get closeReason(): ConnectionCloseReason | undefined {
    return this.#closeReason;
  }

  /** Never throws, and does not keep `data`. */
  receive(data: Buffer): void {
    if (this.#closeReason !== undefined) return;
    if (this.#isPublishing) this.#receiveMedia(data);
    else {
      this.#guard(() => {
        const wasHandshakeDone = this.#transport.isHandshakeDone;
        this.#transport.push(data);
        if (!wasHandshakeDone && this.#transport.isHandshakeDone) this.#phaseSinceMs = performance.now();
        if (this.#publication !== undefined) this.#updateFlow();
      });
    }
  }

  peerEnded(): void {
    this.#close('connection-closed');
    this.#linger();
  }

  socketClosed(reason: 'connection-closed' | 'connection-error'): void {
    this.#close(reason);
    clearTimeout(this.#lingerTimer);
  }

  checkTimeouts(nowMs: number): void {
    if (this.#closeReason !== undefined) return;
    const publication = this.#publication;
    // Nothing can arrive while reading is paused.
    if (this.#transport.bytesIn !== this.#bytesAtLastCheck || publication?.isPaused === true) {
      this.#bytesAtLastCheck = this.#transport.bytesIn;
      this.#quietSinceMs = nowMs;
    }
    if (publication?.isAccepted) {
      if (nowMs - this.#quietSinceMs >= this.#options.idleTimeoutMs) this.#fail('idle-timeout');
    } else if (nowMs - this.#phaseSinceMs >= this.#phaseTimeoutMs) {
      this.#fail(this.#transport.isHandshakeDone ? 'publish-timeout' : 'handshake-timeout');
    }
  }

  stop(): void {
    if (this.#closeReason !== undefined) return;
    const publication = this.#publication;
    this.#guard(() => {
      if (publication?.isAccepted) {
        this.#sendStatus(publication, 'error', 'NetStream.Publish.Rejected', drainingDescription);
      }
    });
    this.#closeGracefully('server-stopped');
  }

  get #phaseTimeoutMs(): number {
    const { handshakeTimeoutMs, gateTimeoutMs } = this.#options;
    return this.#publication === undefined ? handshakeTimeoutMs : gateTimeoutMs;
  }

  get #isPublishing(): boolean {
    return this.#publication?.isAccepted === true;
  }

  #maxMessageBytes(type: number): number {
    if (type === MESSAGE.commandAmf0 || type === MESSAGE.commandAmf3) return maxCommandBytes;
    const isMedia = type === MESSAGE.audio || type === MESSAGE.video || type === MESSAGE.aggregate;
    return isMedia && this.#isPublishing ? this.#options.maxMessageBytes : maxOtherMessageBytes;
  }

  /** As {@link #guard}, for what happens at every frame. */
  #receiveMedia(data: Buffer): void {
    this.#rateLimiter.readStarted();
    try {
      this.#transport.push(data);
    } catch (error) {
      this.#fail('protocol-error', { error: messageOf(error) });
    }
    this.#rateLimiter.readEnded();
    if (this.#socket.writableLength > maxUnsentReplyBytes) this.#fail('slow-reader');
  }

  /** Turns errors into the end of the connection; replies are sent in one write. */
  #guard(work: () => void): void {
    this.#socket.cork();
    this.#rateLimiter.readStarted();
    try {
      work();
    } catch (error) {
      this.#fail('protocol-error', { error: messageOf(error) });
    } finally {
      this.#rateLimiter.readEnded();
      this.#socket.uncork();
    }
    if (this.#socket.writableLength > maxUnsentReplyBytes) this.#fail('slow-reader');
  }

  #handleMessage(message: RtmpMessage): void {
    const { type, payload, messageStreamId } = message;
    if (type === MESSAGE.commandAmf0) this.#handleCommand(decodeCommand(payload), messageStreamId);
    else if (type === MESSAGE.commandAmf3)
      this.#handleCommand(decodeCommand(skipAmf3Format(payload)), messageStreamId);
    else this.#publication?.deliver(message);
  }

  #handleCommand(command: Command, messageStreamId: number): void {
    const { name, transactionId, args } = command;
    if (name === 'connect') {
      this.#handleConnect(command);
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
        this.#handlePublish(this.#connect, textOf(args[1]), messageStreamId);
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

  #handleConnect(command: Command): void {
    if (this.#connect !== undefined) throw malformedRtmp('a second connect');
    this.#connect = readConnect(command);
    this.#transport.acceptConnect(command.transactionId, this.#connect);
  }

  #handlePublish(connect: ConnectInfo, name: string, messageStreamId: number): void {
    if (this.#publication !== undefined) throw malformedRtmp('a second publish');
    const { protocol, connectionId, remoteAddress, observer } = this.#options;
    const path = resolveStreamPath(connect.app, name);
    const publication = new Publication({
      messageStreamId,
      streamKey: path.ok ? path.streamKey : '',
      encoder: connect.encoder,
      observer,
      log: this.#log,
      onSinkFailed: () => this.#fail('ended-by-server'),
    });
    this.#publication = publication;
    if (this.#options.isDraining()) {
      this.#refusePublish(publication, 'server-draining', drainingDescription);
      return;
    }
    if (!path.ok) {
      this.#refusePublish(publication, path.reason, path.description);
      return;
    }
    this.#phaseSinceMs = performance.now();
    this.#bytesAtPublish = this.#transport.bytesIn;
    this.#updateFlow();
    const { streamKey, query } = path;
    const { encoder } = connect;
    const { signal } = publication;
    void this.#askGate(publication, {
      ...{ connectionId, protocol, remoteAddress, streamKey, query, encoder, signal },
    });
  }

  async #askGate(publication: Publication, request: PublishRequest): Promise<void> {
    try {
      const decision = await this.#options.gate.request(request, this.#connectionOf(publication));
      this.#guard(() => this.#handleDecision(publication, decision));
    } catch (error) {
      this.#log.error('gate-failed', { error });
      const description =
        'An internal error stopped the server from accepting the stream. Try again in a moment.';
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
      refuse: text => this.#endPublication(publication, 'NetStream.Publish.Rejected', text),
      close: (text, reason = 'ended-by-server') =>
        this.#endPublication(publication, endCodes[reason], text, reason),
      pause: () => this.#setPaused(publication, true),
      resume: () => this.#setPaused(publication, false),
    };
  }

  #handleDecision(publication: Publication, decision: PublishDecision): void {
    if (!decision.accepted) {
      this.#refusePublish(publication, decision.reason, decision.description);
      return;
    }
    if (!publication.accept(decision.sink)) return;
    this.#quietSinceMs = performance.now();
    this.#transport.sendStreamBegin(publication.messageStreamId);
    this.#sendStatus(publication, 'status', 'NetStream.Publish.Start', 'Publishing.');
    this.#updateFlow();
  }

  #refusePublish(publication: Publication, reason: string, description: string): void {
    if (publication.isClosed) return;
    this.#options.observer.refused(reason);
    this.#log.warn('publish-refused', { ...publication.logFields, reason });
    this.#sendStatus(publication, 'error', 'NetStream.Publish.BadName', description);
    this.#closeGracefully('publish-refused');
  }

  #refusePlay(messageStreamId: number): void {
    this.#options.observer.refused('play');
    this.#log.info('play-refused', { encoder: this.#connect?.encoder });
    this.#transport.sendStatus(
      messageStreamId,
      'error',
      'NetStream.Play.Failed',
      'Playback over RTMP is not supported. Play the HLS stream.',
    );
    this.#closeGracefully('play-refused');
  }

  #endPublication(
    publication: Publication,
    code: string,
    description: string,
    reason: PublisherEndReason = 'ended-by-server',
  ): void {
    if (publication.isClosed) return;
    this.#guard(() => this.#sendStatus(publication, 'error', code, description));
    this.#closeGracefully(reason);
  }

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
    if (!publication.isClosed) this.#guard(() => this.#updateFlow());
  }

  /**
   * Pauses reading while the sink is full or the rate limiter throttles. While the gate decides, holds what arrives, and
   * reads on for a while, because a paused socket does not tell that the encoder has left.
   */
  #updateFlow(): void {
    if (this.#closeReason !== undefined) return;
    const publication = this.#publication;
    const isDeciding = publication?.isAccepted === false;
    const isFull = isDeciding && this.#transport.bytesIn - this.#bytesAtPublish > maxHeldBytes;
    if (publication?.isPaused || isFull || this.#isThrottled) {
      this.#transport.hold();
      this.#socket.pause();
    } else if (isDeciding) {
      this.#transport.hold();
      this.#socket.resume();
    } else {
      this.#socket.resume();
      this.#transport.release();
    }
  }

  #fail(reason: ConnectionCloseReason, data: { error?: string } = {}): void {
    if (this.#closeReason !== undefined) return;
    const { encoder } = this.#connect ?? {};
    this.#log.info('connection-failed', { reason, ...data, encoder, bytesIn: this.#transport.bytesIn });
    this.#close(reason);
    this.#socket.destroy();
  }

  /** Closes after pending writes. Input is still read and dropped, since unread bytes would cause a reset. */
  #closeGracefully(reason: ConnectionCloseReason): void {
    if (this.#closeReason !== undefined) return;
    this.#close(reason);
    this.#socket.end();
    this.#socket.resume();
    this.#linger();
  }

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
    publication.close(reason, this.#transport.bytesIn);
  }
}

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
