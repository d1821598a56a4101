import { createServer, type Server, type Socket } from 'node:net';
import { restreamArguments } from '../../ffmpeg/arguments/restream-arguments.ts';
import type { PipedProcess, ProcessExit, ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { copyLimits } from '../../ffmpeg/process/process-limits.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import { flvHeader, flvTagEnvelope } from '../../media/flv/flv-tag.ts';
import { ServerHandshake } from '../../media/rtmp/rtmp-handshake.ts';
import {
  failureFromError,
  failureFromExit,
  failureFromStatus,
  type RestreamFailure,
  type RtmpStatus,
} from './restream-failure.ts';
import type { RestreamTarget } from './restream-target.ts';
import {
  RtmpTap,
  readAmfCommandName,
  readAmfStringProperty,
  replaceAmfString,
  replaceBytes,
} from './rtmp-tap.ts';

interface RestreamConnectionEvents {
  accepted(): void;
  taken(bytes: number): void;
  /** Called once, when process and socket are gone. `failure` is undefined after a requested end. */
  ended(failure: RestreamFailure | undefined): void;
}

export interface RestreamConnectionOptions {
  readonly target: RestreamTarget;
  readonly streamKey: string;
  /** Paused after the handshake. Owned by the connection. */
  readonly socket: Socket;
  readonly owner: ProcessOwner;
  readonly ids: Readonly<Record<string, unknown>>;
  readonly events: RestreamConnectionEvents;
}

interface RestreamStart {
  readonly ffmpegPath: string;
  readonly hasAudio: boolean;
  readonly hasVideo: boolean;
  /** On the broadcast's clock; becomes 0 at the destination. */
  readonly startMs: number;
}

/** All destinations of a broadcast share the buffers. Above 27 Mbit/s the limit of bytes is reached first. */
const maxWaitingMs = 5_000;
const maxWaitingBytes = 16 * 1024 * 1024;
/** Reads of up to 64 KiB before ffmpeg connects. */
const maxEarlyReads = 8;
/** Time to send what ffmpeg left in the socket. */
const flushMs = 300;
const stopTimeouts = { interruptAfterMs: 500, killAfterMs: 300 };

/** ffmpeg publishes to a loopback port with placeholders, so that it knows neither the URL nor the stream key. */
export class RestreamConnection {
  readonly #options: RestreamConnectionOptions;
  readonly #loopbackServer: Server;
  #process: PipedProcess | undefined;
  #ffmpegSocket: Socket | undefined;
  readonly #responseTap = new RtmpTap({ command: payload => this.#readResponse(payload) });
  /** From before ffmpeg connected; undefined afterwards. */
  #earlyData: Buffer[] | undefined = [];
  #startMs = 0;
  readonly #waiting: { readonly atMs: number; readonly bytes: number }[] = [];
  #waitingBytes = 0;
  #newestMs = 0;
  #status: RtmpStatus | undefined;
  #socketError: Error | undefined;
  #isClosedByDestination = false;
  #isEndRequested = false;
  #isEnded = false;
  #failure: RestreamFailure | undefined;
  #exit: ProcessExit | undefined;
  #flushTimer: NodeJS.Timeout | undefined;

  /** @throws Error when no port is left */
  static async open(options: RestreamConnectionOptions): Promise<RestreamConnection> {
    const run = new RestreamConnection(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    run.#loopbackServer.once('error', reject);
    run.#loopbackServer.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, resolve);
    try {
      await promise;
    } catch (error) {
      options.socket.destroy();
      throw error;
    }
    return run;
  }

  private constructor(options: RestreamConnectionOptions) {
    this.#options = options;
    const { socket } = options;
    this.#loopbackServer = createServer(inner => this.#connected(inner));
    this.#loopbackServer.on('error', () => {});
    socket.on('error', error => {
      if (!socket.writableEnded) this.#socketError ??= error;
    });
    socket.once('close', () => this.#destinationGone());
    // Only a reader sees the end.
    socket.once('end', () => this.#destinationGone());
    socket.on('data', bytes => this.#fromDestination(bytes));
    socket.resume();
  }

  get hasBegun(): boolean {
    return this.#process !== undefined;
  }

  get isEnding(): boolean {
    return this.#isEndRequested;
  }

  get isWaiting(): boolean {
    return this.#waitingBytes > 0 || this.#options.socket.writableLength > 0;
  }

  get isFull(): boolean {
    return this.#waitingBytes > maxWaitingBytes || this.#waitingMs > maxWaitingMs;
  }

  get isHalfEmpty(): boolean {
    return this.#waitingBytes <= maxWaitingBytes / 2 && this.#waitingMs <= maxWaitingMs / 2;
  }

  get #waitingMs(): number {
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : this.#newestMs - oldest.atMs;
  }

  /** Write decoder configurations first, then a keyframe. @throws Error when no process can be started */
  begin({ ffmpegPath, hasAudio, hasVideo, startMs }: RestreamStart): void {
    const { owner, ids, target, streamKey } = this.#options;
    const [tcUrl, app, playPath] = [
      placeholderOf(target.tcUrl),
      placeholderOf(target.app),
      placeholderOf(streamKey),
    ];
    const { port } = this.#loopbackServer.address() as { port: number };
    this.#startMs = startMs;
    this.#process = owner.start(ffmpegPath, restreamArguments({ port, tcUrl, app, playPath }), {
      outputs: 0,
      limits: copyLimits,
      ids,
    });
    this.#process.stdin.write(flvHeader(hasAudio, hasVideo));
    void this.#process.exited.then(exit => this.#processGone(exit));
  }

  /** The caller checks {@link isFull}. */
  write(kind: TrackKind, atMs: number, body: Buffer): void {
    const stdin = this.#process?.stdin;
    if (stdin === undefined || stdin.writableEnded || stdin.destroyed) return;
    const [head, tail] = flvTagEnvelope(kind, Math.max(0, atMs - this.#startMs), body.length);
    const bytes = head.length + body.length + tail.length;
    this.#newestMs = atMs;
    this.#waiting.push({ atMs, bytes });
    this.#waitingBytes += bytes;
    stdin.cork();
    stdin.write(head);
    stdin.write(body);
    stdin.write(tail, () => {
      this.#waiting.shift();
      this.#waitingBytes -= bytes;
    });
    stdin.uncork();
  }

  finish(): void {
    this.#isEndRequested = true;
    if (this.#process === undefined) this.#end();
    else void this.#process.stop(stopTimeouts);
  }

  /** Without `failure` the end counts as requested. */
  kill(failure?: RestreamFailure): void {
    if (failure === undefined) this.#isEndRequested = true;
    else this.#failure ??= failure;
    this.#options.socket.destroy();
    if (this.#process === undefined) this.#end();
    else void this.#process.kill();
  }

  #connected(inner: Socket): void {
    // ffmpeg connects once; nothing else is expected here.
    if (this.#process === undefined || this.#ffmpegSocket !== undefined) {
      inner.destroy();
      return;
    }
    this.#ffmpegSocket = inner;
    this.#loopbackServer.close();
    const { socket, events } = this.#options;
    const handshake = new ServerHandshake(answer => {
      inner.write(answer);
      for (const piece of this.#earlyData ?? []) inner.write(piece);
      this.#earlyData = undefined;
    });
    const out = new RtmpTap({
      command: payload => this.#fillInNames(payload),
      mediaBegan: () => {
        // Earlier errors, such as of a command that not every server knows, did not matter.
        this.#status = undefined;
        events.accepted();
      },
    });
    inner.setNoDelay(true);
    inner.on('error', () => {});
    inner.on('data', bytes => {
      for (const piece of out.push(handshake.push(bytes))) {
        const isOpen = socket.write(piece, error => {
          if (!error) events.taken(piece.length);
        });
        if (!isOpen) inner.pause();
      }
    });
    socket.on('drain', () => inner.resume());
    inner.on('end', () => socket.end());
    inner.on('close', () => socket.end());
    inner.on('drain', () => socket.resume());
  }

  #fromDestination(bytes: Buffer): void {
    const pieces = this.#responseTap.push(bytes);
    if (this.#responseTap.isMalformed || (this.#earlyData?.length ?? 0) > maxEarlyReads) {
      const detail = 'The destination sends malformed RTMP.';
      this.kill({ reason: 'failed', detail, isLasting: false });
    } else if (this.#earlyData !== undefined) this.#earlyData.push(...pieces);
    else
      for (const piece of pieces)
        if (this.#ffmpegSocket?.write(piece) === false) this.#options.socket.pause();
  }

  /** The command decides which name is meant, since they can have the same length. */
  #fillInNames(payload: Buffer): void {
    const { target, streamKey } = this.#options;
    const names = readAmfCommandName(payload) === 'connect' ? [target.tcUrl, target.app] : [streamKey];
    for (const name of names) replaceAmfString(payload, placeholderOf(name), name);
  }

  #readResponse(payload: Buffer): void {
    const { streamKey, target } = this.#options;
    const texts = ['level', 'code', 'description'].map(name => readAmfStringProperty(payload, name) ?? '');
    // The query string can be a key as well.
    const secrets = [streamKey, ...target.app.split('?').slice(1)].filter(({ length }) => length > 3);
    for (const secret of secrets) replaceBytes(payload, secret, placeholderOf(secret));
    const redact = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
    const [level, code, description] = texts as [string, string, string];
    if (level === 'error') this.#status ??= { code: redact(code), description: redact(description) };
  }

  #destinationGone(): void {
    const { socket } = this.#options;
    // Otherwise it responds to ffmpeg's end, whose reason follows.
    const isFirst = !socket.writableEnded;
    if (this.#exit === undefined) this.#isClosedByDestination ||= isFirst;
    socket.destroy();
    if (this.#process === undefined) this.#end();
    else if (this.#exit === undefined)
      void (isFirst ? this.#process.kill() : this.#process.stop(stopTimeouts));
  }

  #processGone(exit: ProcessExit): void {
    this.#exit = exit;
    const { socket } = this.#options;
    if (socket.destroyed) {
      this.#end();
      return;
    }
    socket.once('close', () => this.#end());
    // The last bytes of ffmpeg may still be in transit.
    if (this.#ffmpegSocket === undefined || this.#ffmpegSocket.destroyed) socket.end();
    this.#flushTimer = setTimeout(() => socket.destroy(), flushMs);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#flushTimer);
    this.#loopbackServer.close();
    this.#ffmpegSocket?.destroy();
    this.#options.socket.destroy();
    this.#options.events.ended(this.#isEndRequested ? undefined : this.#describeFailure());
  }

  #describeFailure(): RestreamFailure {
    const { target } = this.#options;
    if (this.#failure !== undefined) return this.#failure;
    if (this.#status !== undefined) return failureFromStatus(this.#status);
    if (this.#socketError !== undefined) return failureFromError(this.#socketError, target);
    if (this.#isClosedByDestination || this.#exit === undefined) {
      return failureFromError(Object.assign(new Error('closed'), { code: 'ECONNRESET' }), target);
    }
    return failureFromExit(this.#exit);
  }
}

/** Has the same length, and occurs nowhere else in ffmpeg's commands. */
function placeholderOf(real: string): string {
  return '0'.repeat(Buffer.byteLength(real));
}
