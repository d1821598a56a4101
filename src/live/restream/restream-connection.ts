import type { Socket } from 'node:net';
import { streamMetadata } from '../../media/flv/stream-metadata.ts';
import { tagBody } from '../../media/flv/tag-body.ts';
import { MESSAGE } from '../../media/rtmp/chunk-reader.ts';
import { MediaChunkWriter, mediaChunkStreams } from '../../media/rtmp/media-chunks.ts';
import { PublishClient, type RtmpStatus } from '../../media/rtmp/publish-client.ts';
import { codecs } from '../../media/samples/media-sample.ts';
import type { RestreamBatch } from './restream-batch.ts';
import { failureFromError, failureFromStatus, type RestreamFailure } from './restream-failure.ts';
import type { MediaFormat } from './restream-format.ts';
import type { RtmpTarget } from './restream-target.ts';

/** A connection to one destination, whatever its protocol. */
export interface RestreamOutput {
  readonly isAccepted: boolean;
  readonly hasBegun: boolean;
  /** Format of the media that was sent. */
  readonly format: MediaFormat | undefined;
  readonly isEnding: boolean;
  readonly isWaiting: boolean;
  readonly isFull: boolean;
  readonly isHalfEmpty: boolean;
  /** Begins before the first media. @param startMs of the first sample */
  begin(format: MediaFormat, startMs: number): void;
  /** The caller checks {@link isFull}. @param from index of the first sample @param to index after the last one */
  write(batch: RestreamBatch, from?: number, to?: number): void;
  /** Call about once a second. */
  tick(): void;
  /** Sends what is waiting and ends the stream. */
  finish(): void;
  /** Ends the connection. Without `failure` the end counts as requested. */
  kill(failure?: RestreamFailure): void;
}

export interface RestreamConnectionEvents {
  accepted(): void;
  taken(bytes: number): void;
  /** Called once, when the socket is closed. `failure` is undefined after a requested end. */
  ended(failure: RestreamFailure | undefined): void;
}

interface RestreamConnectionOptions {
  readonly target: RtmpTarget;
  readonly streamKey: string;
  /** Format at the time of connecting. */
  readonly format: MediaFormat;
  /** Paused after the handshake. Owned by the connection. */
  readonly socket: Socket;
  readonly events: RestreamConnectionEvents;
}

interface QueuedBytes {
  readonly atMs: number;
  readonly bytes: Buffer;
}

/**
 * Maximum waiting media. All destinations of a broadcast share the buffers. Above 27 Mbit/s the limit of bytes is
 * reached first.
 */
const maxWaitingMs = 5_000;
const maxWaitingBytes = 16 * 1024 * 1024;
/** Maximum bytes written at once, so that a slow destination shows progress. */
const maxWriteBytes = 64 * 1024;
/** Servers answer with some hundred bytes, and acknowledge megabytes. */
const maxAnswerBytesPerSecond = 256 * 1024;
/** Maximum queued pieces; some hundred are the media of 5 s. */
const maxQueuedPieces = 5_000;
/** Time to send what is waiting. */
const finishMs = 1_000;

const malformed: RestreamFailure = {
  reason: 'failed',
  detail: 'The destination sends malformed RTMP.',
  isLasting: false,
};

/** Publishes to one destination over RTMP. */
export class RestreamConnection implements RestreamOutput {
  readonly #options: RestreamConnectionOptions;
  readonly #client: PublishClient;
  #media: MediaChunkWriter | undefined;
  #format: MediaFormat | undefined;
  #queue: QueuedBytes[] = [];
  #waitingBytes = 0;
  #inFlight: QueuedBytes | undefined;
  #newestMs = 0;
  #answerBytes = 0;
  #isAccepted = false;
  #isEndRequested = false;
  #failure: RestreamFailure | undefined;
  #finishTimer: NodeJS.Timeout | undefined;

  constructor(options: RestreamConnectionOptions) {
    this.#options = options;
    const { target, streamKey, format, socket, events } = options;
    this.#client = new PublishClient({
      app: target.app,
      tcUrl: target.tcUrl,
      streamKey,
      fourCc: enhancedFourCc(format),
      write: bytes => this.#answer(bytes),
      onAccepted: () => {
        if (socket.destroyed) return;
        this.#isAccepted = true;
        events.accepted();
      },
      onRefused: status => this.kill(failureFromStatus(this.#redact(status))),
      onCodecRefused: () => this.kill(codecRefused(format)),
    });
    socket.on('error', error => {
      this.#failure ??= failureFromError(error, target);
    });
    // Only a reader sees the end.
    socket.once('end', () => socket.destroy());
    if (socket.closed) queueMicrotask(() => this.#closed());
    else socket.once('close', () => this.#closed());
    socket.on('data', bytes => this.#read(bytes));
    socket.resume();
    this.#client.start();
  }

  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  get hasBegun(): boolean {
    return this.#media !== undefined;
  }

  /** Format of the sequence headers that were sent. */
  get format(): MediaFormat | undefined {
    return this.#format;
  }

  get isEnding(): boolean {
    return this.#isEndRequested;
  }

  get isWaiting(): boolean {
    return this.#waitingBytes > 0;
  }

  get isFull(): boolean {
    return this.#waitingBytes > maxWaitingBytes || this.#waitingMs > maxWaitingMs;
  }

  get isHalfEmpty(): boolean {
    return this.#waitingBytes <= maxWaitingBytes / 2 && this.#waitingMs <= maxWaitingMs / 2;
  }

  get #waitingMs(): number {
    const oldest = this.#inFlight ?? this.#queue[0];
    return oldest === undefined ? 0 : this.#newestMs - oldest.atMs;
  }

  /** Sends metadata and sequence headers. @param startMs becomes 0 at the destination */
  begin(format: MediaFormat, startMs: number): void {
    const client = this.#client;
    this.#media = new MediaChunkWriter(client.messageStreamId, startMs);
    this.#format = format;
    this.#newestMs = startMs;
    const { video, audio } = format;
    const metadata = streamMetadata({ video: video && tagBody(video), audio: audio && tagBody(audio) });
    this.#queueBytes(client.metadata(metadata), startMs);
    for (const media of [video, audio]) {
      if (media?.type !== 'config') continue;
      const { kind } = media;
      this.#queueBytes(client.message(mediaChunkStreams[kind], MESSAGE[kind], tagBody(media)), startMs);
    }
    this.#send();
  }

  write(batch: RestreamBatch, from?: number, to?: number): void {
    const atMs = batch.samples[from ?? 0]?.atMs;
    if (this.#media === undefined || atMs === undefined || this.#isEndRequested) return;
    for (const bytes of this.#media.write(batch.chunks, from, to)) this.#queueBytes(bytes, atMs);
    this.#newestMs = batch.samples.at(-1)!.atMs;
    this.#send();
  }

  tick(): void {
    this.#answerBytes = 0;
  }

  finish(): void {
    if (this.#isEndRequested) return;
    this.#isEndRequested = true;
    if (!this.#isAccepted) {
      this.#options.socket.destroy();
      return;
    }
    this.#finishTimer = setTimeout(() => this.#options.socket.destroy(), finishMs);
    this.#enqueue(this.#client.end());
  }

  kill(failure?: RestreamFailure): void {
    if (failure === undefined) this.#isEndRequested = true;
    else this.#failure ??= failure;
    this.#options.socket.destroy();
  }

  /** A server that asks without reading must not cost memory. */
  #answer(bytes: Buffer): void {
    if (this.#queue.length < maxQueuedPieces) this.#enqueue(bytes);
    else this.kill(malformed);
  }

  /** Queues bytes between messages, since pieces end anywhere. */
  #enqueue(bytes: Buffer): void {
    this.#queueBytes(bytes, this.#newestMs);
    this.#send();
  }

  #queueBytes(bytes: Buffer, atMs: number): void {
    this.#queue.push({ bytes, atMs });
    this.#waitingBytes += bytes.length;
  }

  #send(): void {
    const { socket, events } = this.#options;
    if (this.#inFlight !== undefined || socket.destroyed || socket.writableEnded) return;
    const first = this.#queue[0];
    if (first === undefined) {
      if (this.#isEndRequested) socket.end();
      return;
    }
    const pieces = this.#takePieces();
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#inFlight = first;
    socket.cork();
    for (const piece of pieces.slice(0, -1)) socket.write(piece);
    socket.write(pieces.at(-1)!, error => {
      this.#inFlight = undefined;
      this.#waitingBytes -= bytes;
      if (error) return;
      events.taken(bytes);
      this.#send();
    });
    socket.uncork();
  }

  #takePieces(): Buffer[] {
    const pieces: Buffer[] = [];
    for (let left = maxWriteBytes; left > 0; ) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      pieces.push(next.bytes.subarray(0, left));
      if (next.bytes.length > left)
        this.#queue.unshift({ atMs: next.atMs, bytes: next.bytes.subarray(left) });
      left -= next.bytes.length;
    }
    return pieces;
  }

  #read(bytes: Buffer): void {
    this.#answerBytes += bytes.length;
    try {
      if (this.#answerBytes > maxAnswerBytesPerSecond) throw new Error('too many answers');
      this.#client.push(bytes);
    } catch {
      this.kill(malformed);
    }
  }

  /** Servers repeat the key in their answers. The query string can be a key as well. */
  #redact({ code, description }: RtmpStatus): RtmpStatus {
    const { streamKey, target } = this.#options;
    const secrets = [streamKey, ...target.app.split('?').slice(1)].filter(({ length }) => length > 3);
    const redact = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), text);
    return { code: redact(code), description: redact(description) };
  }

  #closed(): void {
    clearTimeout(this.#finishTimer);
    this.#queue = [];
    const { target, events } = this.#options;
    const closed = Object.assign(new Error('closed'), { code: 'ECONNRESET' });
    events.ended(this.#isEndRequested ? undefined : (this.#failure ?? failureFromError(closed, target)));
  }
}

/** Undefined for H.264, which needs no Enhanced RTMP. */
function enhancedFourCc({ video }: MediaFormat): string | undefined {
  return video?.codec === codecs.avc1 ? undefined : video?.codec.fourCc;
}

function codecRefused({ video }: MediaFormat): RestreamFailure {
  const detail = `The destination does not accept ${video?.codec.name}. Choose H.264 in the encoder, or a rendition for the destination.`;
  return { reason: 'codec', detail, isLasting: true };
}
