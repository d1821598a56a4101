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

/** What a run tells its destination. */
export interface RestreamConnectionEvents {
  /** The destination takes the stream. */
  accepted(): void;
  /** So many more bytes went out. */
  taken(bytes: number): void;
  /** Once: all of it is gone. `failure` is undefined when it was asked to end. */
  ended(failure: RestreamFailure | undefined): void;
}

/** What a run is made with. */
export interface RestreamConnectionOptions {
  readonly target: RestreamTarget;
  readonly streamKey: string;
  /** Connected to the destination, behind the handshake, paused; it belongs to the run. */
  readonly socket: Socket;
  readonly owner: ProcessOwner;
  /** Go on the log lines of the process. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly events: RestreamConnectionEvents;
}

/** How ffmpeg is begun: a build that can read what comes, and which tracks do. */
export interface RestreamStart {
  readonly ffmpegPath: string;
  readonly hasAudio: boolean;
  readonly hasVideo: boolean;
  /** Time of the first tag on the broadcast's clock; the destination's begins at 0. */
  readonly startMs: number;
}

/**
 * What waits for a destination at most: media time, and bytes, which are less than that above 27 Mbit/s. All destinations of a broadcast
 * share them.
 */
const mostWaitingMs = 5_000;
const mostWaitingBytes = 16 * 1024 * 1024;
/** Servers say next to nothing before they are spoken to; counted in reads of up to 64 KiB. */
const mostEarly = 8;
/** Once ffmpeg is gone, what it left in the socket is given this long. */
const lastBytesMs = 300;
const stopLadder = { interruptAfterMs: 500, killAfterMs: 300 };

/**
 * One connection to a destination: an ffmpeg that speaks RTMP to a port of loopback, and what passes its bytes on to the
 * destination and back. ffmpeg knows neither the name of the destination nor the key: what it says in their place is changed on the way.
 */
export class RestreamConnection {
  readonly #options: RestreamConnectionOptions;
  readonly #loopbackServer: Server;
  #process: PipedProcess | undefined;
  #inner: Socket | undefined;
  readonly #back = new RtmpTap({ command: payload => this.#answered(payload) });
  /** What the destination said before ffmpeg could hear it; undefined from then on. */
  #early: Buffer[] | undefined = [];
  #startMs = 0;
  /** Tags that ffmpeg has not taken, oldest first. */
  readonly #waiting: { readonly atMs: number; readonly bytes: number }[] = [];
  #waitingBytes = 0;
  #newestMs = 0;
  #status: RtmpStatus | undefined;
  #socketError: Error | undefined;
  #isClosedByDestination = false;
  #isAsked = false;
  #isEnded = false;
  #failure: RestreamFailure | undefined;
  #exit: ProcessExit | undefined;
  #lastBytesTimer: NodeJS.Timeout | undefined;

  /** Opens the port of loopback; resolves when ffmpeg can be begun. @throws Error when there is no port left */
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
    // The end of what it sends is seen only by whoever reads.
    socket.once('end', () => this.#destinationGone());
    socket.on('data', bytes => this.#fromDestination(bytes));
    socket.resume();
  }

  get hasBegun(): boolean {
    return this.#process !== undefined;
  }

  /** It was asked to end. */
  get isEnding(): boolean {
    return this.#isAsked;
  }

  /** Bytes wait to be taken by ffmpeg or by the destination. */
  get isWaiting(): boolean {
    return this.#waitingBytes > 0 || this.#options.socket.writableLength > 0;
  }

  /** So much waits that nothing more should be written. */
  get isFull(): boolean {
    return this.#waitingBytes > mostWaitingBytes || this.#waitingMs > mostWaitingMs;
  }

  /** There is room again for a while. */
  get isHalfEmpty(): boolean {
    return this.#waitingBytes <= mostWaitingBytes / 2 && this.#waitingMs <= mostWaitingMs / 2;
  }

  get #waitingMs(): number {
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : this.#newestMs - oldest.atMs;
  }

  /** Begins ffmpeg. Decoder configuration is to be written first, then a keyframe. @throws Error when no process can be started */
  begin({ ffmpegPath, hasAudio, hasVideo, startMs }: RestreamStart): void {
    const { owner, ids, target, streamKey } = this.#options;
    const [tcUrl, app, playPath] = [standInOf(target.tcUrl), standInOf(target.app), standInOf(streamKey)];
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

  /** Hands in a tag body. What is full is the caller's to ask. */
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

  /** No more is written: what waits goes out, then the connection ends as it should. */
  finish(): void {
    this.#isAsked = true;
    if (this.#process === undefined) this.#end();
    else void this.#process.stop(stopLadder);
  }

  /** Ends it at once. `failure` says why, unless it was asked for. */
  kill(failure?: RestreamFailure): void {
    if (failure === undefined) this.#isAsked = true;
    else this.#failure ??= failure;
    this.#options.socket.destroy();
    if (this.#process === undefined) this.#end();
    else void this.#process.kill();
  }

  #connected(inner: Socket): void {
    // Nobody but ffmpeg has a reason to come here, and it comes once.
    if (this.#process === undefined || this.#inner !== undefined) {
      inner.destroy();
      return;
    }
    this.#inner = inner;
    this.#loopbackServer.close();
    const { socket, events } = this.#options;
    const handshake = new ServerHandshake(answer => {
      inner.write(answer);
      for (const piece of this.#early ?? []) inner.write(piece);
      this.#early = undefined;
    });
    const out = new RtmpTap({
      command: payload => this.#said(payload),
      mediaBegan: () => {
        // What was refused before, such as a command that not every server knows, did not matter.
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
    const pieces = this.#back.push(bytes);
    if (this.#back.isMalformed || (this.#early?.length ?? 0) > mostEarly) {
      const detail = 'The destination does not speak RTMP as it should.';
      this.kill({ reason: 'failed', detail, isLasting: false });
    } else if (this.#early !== undefined) this.#early.push(...pieces);
    else for (const piece of pieces) if (this.#inner?.write(piece) === false) this.#options.socket.pause();
  }

  /** The names of a destination may be equally long, so that it matters which one stands where. */
  #said(payload: Buffer): void {
    const { target, streamKey } = this.#options;
    const names = readAmfCommandName(payload) === 'connect' ? [target.tcUrl, target.app] : [streamKey];
    for (const name of names) replaceAmfString(payload, standInOf(name), name);
  }

  #answered(payload: Buffer): void {
    const { streamKey, target } = this.#options;
    const texts = ['level', 'code', 'description'].map(name => readAmfStringProperty(payload, name) ?? '');
    // What follows a question mark is a key as well.
    const secrets = [streamKey, ...target.app.split('?').slice(1)].filter(({ length }) => length > 3);
    for (const secret of secrets) replaceBytes(payload, secret, standInOf(secret));
    const hide = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
    const [level, code, description] = texts as [string, string, string];
    if (level === 'error') this.#status ??= { code: hide(code), description: hide(description) };
  }

  #destinationGone(): void {
    const { socket } = this.#options;
    // Otherwise it only answers the end of an ffmpeg that is about to say why.
    const isFirst = !socket.writableEnded;
    if (this.#exit === undefined) this.#isClosedByDestination ||= isFirst;
    socket.destroy();
    if (this.#process === undefined) this.#end();
    else if (this.#exit === undefined) void (isFirst ? this.#process.kill() : this.#process.stop(stopLadder));
  }

  #processGone(exit: ProcessExit): void {
    this.#exit = exit;
    const { socket } = this.#options;
    if (socket.destroyed) {
      this.#end();
      return;
    }
    socket.once('close', () => this.#end());
    // What ffmpeg said last may still be on its way through here.
    if (this.#inner === undefined || this.#inner.destroyed) socket.end();
    this.#lastBytesTimer = setTimeout(() => socket.destroy(), lastBytesMs);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#lastBytesTimer);
    this.#loopbackServer.close();
    this.#inner?.destroy();
    this.#options.socket.destroy();
    this.#options.events.ended(this.#isAsked ? undefined : this.#whatFailed());
  }

  #whatFailed(): RestreamFailure {
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

/** A text of as many bytes that says nothing, and that no command of ffmpeg has by itself. */
function standInOf(real: string): string {
  return '0'.repeat(Buffer.byteLength(real));
}
