import { TsMuxer } from '../../media/mpegts/ts-muxer.ts';
import { codecs, compositionMs } from '../../media/samples/media-sample.ts';
import { type CallerConnection, SrtCaller } from '../../media/srt/caller.ts';
import { CONTROL, readPacket } from '../../media/srt/packet.ts';
import { describeRejection, REJECT } from '../../media/srt/reject-reason.ts';
import { SrtSender } from '../../media/srt/sender.ts';
import type { DatagramPath } from '../../shared/network/datagram-path.ts';
import type { RestreamBatch } from './restream-batch.ts';
import type { RestreamConnectionEvents, RestreamOutput } from './restream-connection.ts';
import { failureFromError, type RestreamFailure } from './restream-failure.ts';
import type { MediaFormat } from './restream-format.ts';
import type { SrtTarget } from './restream-target.ts';

interface SrtRestreamConnectionOptions {
  readonly target: SrtTarget;
  readonly streamKey: string;
  /** Owned by the connection. */
  readonly path: DatagramPath;
  readonly events: RestreamConnectionEvents;
}

/** Seven packets of a transport stream. */
const payloadBytes = 1_316;
const tickMs = 10;
/** Receivers acknowledge, or send a keepalive each second. */
const peerTimeoutMs = 5_000;

/** Reasons that only a change of the destination ends. */
const lastingReasons: readonly number[] = [
  ...[REJECT.badSecret, REJECT.unsecure, REJECT.badRequest, REJECT.unauthorized],
  ...[REJECT.forbidden, REJECT.notFound, REJECT.badMode],
];

/**
 * Sends to one destination over SRT as an MPEG transport stream. Nothing waits here: packets that the network loses are sent
 * again for about a second and then given up.
 */
export class SrtRestreamConnection implements RestreamOutput {
  readonly isWaiting = false;
  readonly isFull = false;
  readonly isHalfEmpty = true;
  readonly #options: SrtRestreamConnectionOptions;
  readonly #caller: SrtCaller;
  readonly #timer: NodeJS.Timeout;
  #sender: SrtSender | undefined;
  #latencyMs = 0;
  #muxer: TsMuxer | undefined;
  #format: MediaFormat | undefined;
  #finishTimer: NodeJS.Timeout | undefined;
  #heardAtMs = performance.now();
  #isEndRequested = false;
  #isClosed = false;

  constructor(options: SrtRestreamConnectionOptions) {
    this.#options = options;
    const { target, streamKey, path } = options;
    this.#caller = new SrtCaller({
      streamId: target.streamId ?? streamKey,
      latencyMs: target.latencyMs,
      encryption: target.encryption,
      send: packet => path.send(packet),
      connected: connection => this.#connected(connection),
      rejected: reason => this.kill(this.#rejection(reason)),
    });
    path.receive(
      datagram => this.#receive(datagram),
      error => this.kill(failureFromError(error, target)),
    );
    this.#timer = setInterval(() => this.#advance(), tickMs);
  }

  get isAccepted(): boolean {
    return this.#sender !== undefined;
  }

  get hasBegun(): boolean {
    return this.#muxer !== undefined;
  }

  get format(): MediaFormat | undefined {
    return this.#format;
  }

  get isEnding(): boolean {
    return this.#isEndRequested;
  }

  begin(format: MediaFormat): void {
    this.#format = format;
    try {
      this.#muxer = muxerOf(format);
    } catch {
      const detail =
        'SRT destinations take H.264 or HEVC with AAC. Choose these in the encoder, or a rendition for the destination.';
      this.kill({ reason: 'codec', detail, isLasting: true });
    }
  }

  write(batch: RestreamBatch, from = 0, to = batch.samples.length): void {
    const muxer = this.#muxer;
    if (muxer === undefined || this.#isEndRequested || this.#isClosed) return;
    const pieces = batch.samples.slice(from, to).map(({ media, atMs: dtsMs }) => {
      const { kind, isKeyframe, data } = media;
      if (kind === 'audio') return muxer.audio(dtsMs, data);
      return muxer.video({ dtsMs, ptsMs: dtsMs + compositionMs(media), isKeyframe, data });
    });
    const bytes = Buffer.concat(pieces);
    for (let at = 0; at < bytes.length; at += payloadBytes) {
      this.#sender?.push(bytes.subarray(at, at + payloadBytes));
    }
    this.#options.events.taken(bytes.length);
  }

  tick(): void {}

  /** Waits until lost packets have been sent again. */
  finish(): void {
    if (this.#isEndRequested) return;
    this.#isEndRequested = true;
    if (this.#sender === undefined) this.#close(undefined);
    else this.#finishTimer = setTimeout(() => this.#close(undefined), this.#latencyMs);
  }

  kill(failure?: RestreamFailure): void {
    this.#close(failure);
  }

  #connected({ peerSocketId, initialSequence, sendLatencyMs, cipher }: CallerConnection): void {
    const { path, events } = this.#options;
    this.#latencyMs = sendLatencyMs;
    this.#sender = new SrtSender({
      initialSequence,
      latencyMs: sendLatencyMs,
      peerSocketId,
      cipher,
      send: packet => path.send(packet),
      nowMs: () => performance.now(),
    });
    events.accepted();
  }

  #receive(datagram: Buffer): void {
    const packet = readPacket(datagram);
    if (packet?.kind !== 'control' || packet.destination !== this.#caller.socketId) return;
    this.#heardAtMs = performance.now();
    if (this.#sender === undefined) this.#caller.receive(packet);
    else if (packet.type === CONTROL.shutdown) this.kill(this.#closed());
    else this.#sender.control(packet);
  }

  #advance(): void {
    const nowMs = performance.now();
    if (this.#sender === undefined) this.#caller.tick(nowMs);
    else if (nowMs - this.#heardAtMs >= peerTimeoutMs) this.kill(this.#closed());
    else this.#sender.tick();
  }

  #closed(): RestreamFailure {
    const error = Object.assign(new Error('closed'), { code: 'ECONNRESET' });
    return failureFromError(error, this.#options.target);
  }

  #rejection(reason: number | undefined): RestreamFailure {
    const { host, port } = this.#options.target;
    if (reason === undefined) {
      const detail = `The server at ${host}:${port} does not speak SRT in live mode.`;
      return { reason: 'failed', detail, isLasting: true };
    }
    return {
      reason: 'refused',
      detail: `The destination refuses the stream: ${describeRejection(reason)}. Check its address, key and passphrase.`,
      isLasting: lastingReasons.includes(reason),
    };
  }

  /** The owner expects the end later, as that of a socket. */
  #close(failure: RestreamFailure | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#finishTimer);
    this.#sender?.shutdown();
    const { path, events } = this.#options;
    path.close();
    queueMicrotask(() => events.ended(failure));
  }
}

/** @throws Error for codecs that are not sent over SRT */
function muxerOf({ video, audio }: MediaFormat): TsMuxer {
  const videoCodec = video?.codec.fourCc;
  if (videoCodec !== undefined && videoCodec !== 'avc1' && videoCodec !== 'hvc1')
    throw new Error(`${videoCodec} is not sent over SRT`);
  if (audio !== undefined && audio.codec !== codecs.mp4a)
    throw new Error(`${audio.codec.name} is not sent over SRT`);
  return new TsMuxer({
    video: video && videoCodec && { codec: videoCodec, config: video.data },
    audio: audio && { config: audio.data },
  });
}
