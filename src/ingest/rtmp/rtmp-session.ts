import type { Socket } from 'node:net';
import { MESSAGE, malformedRtmp, type RtmpMessage } from '../../media/rtmp/chunk-reader.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { IngestObserver } from '../ingest-observer.ts';
import { type ProtocolConnection, Publication } from '../publication.ts';
import type { PublisherCloseReason, PublisherEndReason, PublishGate } from '../publish-gate.ts';
import { type Command, type ConnectInfo, decodeCommand, printable, readConnect, textOf } from './commands.ts';
import { MediaMessages, skipAmf3Format } from './media-messages.ts';
import { MessageRateLimiter } from './message-rate-limiter.ts';
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
  /** Timeout from publish to the gate's answer. */
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

/** The stream that this connection publishes. */
interface PublishedStream {
  readonly messageStreamId: number;
  readonly publication: Publication;
  readonly messages: MediaMessages;
  isPaused: boolean;
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
/** Maximum size of all incomplete messages before the gate has accepted the publisher. */
const maxUnfinishedBytes = 512 * 1024;
const maxUnsentReplyBytes = 64 * 1024;
/** Maximum bytes held while the gate decides. */
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
  #stream: PublishedStream | undefined;
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
        if (this.#stream !== undefined) this.#updateFlow();
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
    const stream = this.#stream;
    // Nothing can arrive while reading is paused.
    if (this.#transport.bytesIn !== this.#bytesAtLastCheck || stream?.isPaused === true) {
      this.#bytesAtLastCheck = this.#transport.bytesIn;
      this.#quietSinceMs = nowMs;
    }
    if (this.#isPublishing) {
      if (nowMs - this.#quietSinceMs >= this.#options.idleTimeoutMs) this.#fail('idle-timeout');
    } else if (nowMs - this.#phaseSinceMs >= this.#phaseTimeoutMs) {
      this.#fail(this.#transport.isHandshakeDone ? 'publish-timeout' : 'handshake-timeout');
    }
  }

  stop(): void {
    if (this.#closeReason !== undefined) return;
    const stream = this.#stream;
    this.#guard(() => {
      if (stream?.publication.isAccepted) {
        this.#sendStatus(stream, 'error', 'NetStream.Publish.Rejected', drainingDescription);
      }
    });
    this.#closeGracefully('server-stopped');
  }

  get #phaseTimeoutMs(): number {
    const { handshakeTimeoutMs, gateTimeoutMs } = this.#options;
    return this.#stream === undefined ? handshakeTimeoutMs : gateTimeoutMs;
  }

  get #isPublishing(): boolean {
    return this.#stream?.publication.isAccepted === true;
  }

  #maxMessageBytes(type: number): number {
    if (type === MESSAGE.commandAmf0 || type === MESSAGE.commandAmf3) return maxCommandBytes;
    const isMedia = type === MESSAGE.audio || type === MESSAGE.video || type === MESSAGE.aggregate;
    return isMedia && this.#isPublishing ? this.#options.maxMessageBytes : maxOtherMessageBytes;
  }

  /** Receives media like {@link #guard}, for what happens at every frame. */
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
    else if (this.#isPublishing) this.#stream?.messages.push(message);
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
        if (args[1] === undefined || args[1] === this.#stream?.messageStreamId) this.#unpublish();
        break;
      case 'closeStream':
        if (messageStreamId === this.#stream?.messageStreamId) this.#unpublish();
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
    if (this.#stream !== undefined) throw malformedRtmp('a second publish');
    const { protocol, connectionId, remoteAddress, observer, gate } = this.#options;
    const { encoder } = connect;
    const path = resolveStreamPath(connect.app, name);
    const { streamKey, query } = path.ok ? path : { streamKey: '', query: '' };
    const stream: PublishedStream = {
      messageStreamId,
      isPaused: false,
      messages: new MediaMessages(event => stream.publication.media(event)),
      publication: new Publication({
        request: { connectionId, protocol, remoteAddress, streamKey, query, encoder },
        gate,
        observer,
        log: this.#log,
        connection: this.#connectionOf(() => stream),
      }),
    };
    this.#stream = stream;
    if (this.#options.isDraining()) {
      const reason = 'server-draining';
      stream.publication.refused({ reason, description: drainingDescription });
      this.#refusePublish(stream, drainingDescription);
      return;
    }
    if (!path.ok) {
      stream.publication.refused(path);
      this.#refusePublish(stream, path.description);
      return;
    }
    this.#phaseSinceMs = performance.now();
    this.#bytesAtPublish = this.#transport.bytesIn;
    this.#updateFlow();
    void this.#open(stream);
  }

  async #open(stream: PublishedStream): Promise<void> {
    const refusal = await stream.publication.open();
    this.#guard(() => {
      if (refusal !== undefined) this.#refusePublish(stream, refusal.description);
      else if (!stream.publication.isEnded) this.#startPublishing(stream);
    });
  }

  #connectionOf(stream: () => PublishedStream): ProtocolConnection {
    const session = this;
    return {
      get bytesIn() {
        return session.#transport.bytesIn;
      },
      end: (text, reason) => this.#endPublication(stream(), text, reason),
      failed: () => this.#fail('ended-by-server'),
      pause: () => this.#setPaused(stream(), true),
      resume: () => this.#setPaused(stream(), false),
      totals: () => ({ emptyMessages: stream().messages.empty }),
    };
  }

  #startPublishing(stream: PublishedStream): void {
    this.#quietSinceMs = performance.now();
    this.#transport.sendStreamBegin(stream.messageStreamId);
    this.#sendStatus(stream, 'status', 'NetStream.Publish.Start', 'Publishing.');
    this.#updateFlow();
  }

  #refusePublish(stream: PublishedStream, description: string): void {
    this.#sendStatus(stream, 'error', 'NetStream.Publish.BadName', description);
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

  #endPublication(stream: PublishedStream, description: string, reason: PublisherEndReason): void {
    this.#guard(() => this.#sendStatus(stream, 'error', endCodes[reason], description));
    this.#closeGracefully(reason);
  }

  #unpublish(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#closePublication('unpublished');
    this.#phaseSinceMs = performance.now();
    this.#sendStatus(stream, 'status', 'NetStream.Unpublish.Success', 'The stream has ended.');
  }

  #sendStatus(stream: PublishedStream, level: 'status' | 'error', code: string, description: string): void {
    this.#transport.sendStatus(stream.messageStreamId, level, code, description);
  }

  #setPaused(stream: PublishedStream, isPaused: boolean): void {
    stream.isPaused = isPaused;
    if (!stream.publication.isEnded) this.#guard(() => this.#updateFlow());
  }

  /**
   * Pauses reading while the sink is full or the rate limiter throttles. While the gate decides, holds what arrives, and
   * reads on for a while, because a paused socket does not tell that the encoder has left.
   */
  #updateFlow(): void {
    if (this.#closeReason !== undefined) return;
    const stream = this.#stream;
    const isDeciding = stream?.publication.isAccepted === false;
    const isFull = isDeciding && this.#transport.bytesIn - this.#bytesAtPublish > maxHeldBytes;
    if (stream?.isPaused || isFull || this.#isThrottled) {
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
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.publication.end(reason);
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
