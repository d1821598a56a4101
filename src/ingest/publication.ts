import type { MediaEvent } from '../media/samples/media-sample.ts';
import type { LogData, Logger } from '../shared/logger.ts';
import type { TransportStats } from '../shared/network/transport-stats.ts';
import { maskStreamKey } from '../shared/secret.ts';
import type { IngestObserver } from './ingest-observer.ts';
import type {
  PublishDecision,
  PublisherCloseReason,
  PublisherConnection,
  PublisherEndReason,
  PublisherSink,
  PublishGate,
  PublishRequest,
} from './publish-gate.ts';

interface PublicationOptions {
  readonly request: Omit<PublishRequest, 'signal'>;
  readonly gate: PublishGate;
  readonly observer: IngestObserver;
  readonly log: Logger;
  /** Logged with every line. */
  readonly logData?: LogData;
  readonly connection: ProtocolConnection;
}

/** The connection of a publication, which its protocol owns. */
export interface ProtocolConnection {
  readonly bytesIn: number;
  /** Tells the publisher, where the protocol can, and ends the publication. */
  end(description: string, reason: PublisherEndReason): void;
  /** The receiver of the media failed: ends the publication. */
  failed(): void;
  /** Pauses the publisher, where the protocol can slow it. */
  pause?(): void;
  resume?(): void;
  /** Returns statistics of protocols over UDP. */
  transport?(): TransportStats | undefined;
  /** Logged at the end. */
  totals?(): LogData;
}

type Refusal = Extract<PublishDecision, { accepted: false }>;

const maxHeldBytes = 8 * 1024 ** 2;
const gateFailed: Refusal = {
  accepted: false,
  reason: 'gate-failed',
  description: 'An internal error stopped the server from accepting the stream. Try again in a moment.',
};

/**
 * One publisher of any protocol, from its request to its end. Holds a few seconds of media until the gate has answered, and
 * while the receiver pauses, then drops to the next keyframe.
 */
export class Publication implements PublisherConnection {
  readonly #options: PublicationOptions;
  readonly #ending = new AbortController();
  #sink: PublisherSink | undefined;
  #closeReason: PublisherCloseReason | undefined;
  #isPaused = false;
  #isDropping = false;
  #isReleasing = false;
  #held: MediaEvent[] = [];
  #heldBytes = 0;
  #events = 0;
  #mediaTimer: NodeJS.Timeout | undefined;

  constructor(options: PublicationOptions) {
    this.#options = options;
  }

  get connectionId(): string {
    return this.#options.request.connectionId;
  }

  get protocol(): PublishRequest['protocol'] {
    return this.#options.request.protocol;
  }

  get remoteAddress(): string {
    return this.#options.request.remoteAddress;
  }

  get encoder(): string {
    return this.#options.request.encoder;
  }

  get needsEncoding(): boolean | undefined {
    return this.#options.request.needsEncoding;
  }

  get bytesIn(): number {
    return this.#options.connection.bytesIn;
  }

  get isAccepted(): boolean {
    return this.#sink !== undefined;
  }

  get isEnded(): boolean {
    return this.#closeReason !== undefined;
  }

  /** Asks the gate. Never rejects. Undefined when it accepts, or when the publisher has left meanwhile. */
  async open(): Promise<Refusal | undefined> {
    const { gate, request, log } = this.#options;
    let decision: PublishDecision;
    try {
      decision = await gate.request({ ...request, signal: this.#ending.signal }, this);
    } catch (error) {
      log.error('gate-failed', { error });
      decision = gateFailed;
    }
    if (decision.accepted) this.#accept(decision.sink);
    else if (!this.isEnded) {
      this.refused(decision);
      return decision;
    }
    return undefined;
  }

  /** Counts and logs a refusal. */
  refused({ reason, description }: Omit<Refusal, 'accepted'>): void {
    const { observer, log } = this.#options;
    observer.refused(reason);
    log.warn('publish-refused', { ...this.#logData, reason, description });
  }

  #accept(sink: PublisherSink): void {
    if (this.#closeReason !== undefined) {
      this.#guard(() => sink.closed(this.#closeReason!));
      return;
    }
    const { observer, log } = this.#options;
    this.#sink = sink;
    observer.publisherOpened();
    log.info('publisher-opened', this.#logData);
    this.#expectMedia();
    this.#release();
  }

  media(event: MediaEvent): void {
    if (this.#closeReason !== undefined) return;
    const isSample = event.type === 'sample';
    if (this.#sink === undefined || this.#isPaused) {
      // Whatever follows needs the rest.
      if (this.#isDropping && isSample) return;
      this.#held.push(event);
      this.#heldBytes += bytesOf(event);
      this.#isDropping ||= this.#heldBytes > maxHeldBytes;
      return;
    }
    if (this.#isDropping && isSample && event.kind === 'video') {
      if (!event.isKeyframe) return;
      this.#isDropping = false;
    }
    this.#pass(event);
  }

  refuse(description: string): void {
    this.close(description);
  }

  close(description: string, reason: PublisherEndReason = 'ended-by-server'): void {
    if (this.#closeReason === undefined) this.#options.connection.end(description, reason);
  }

  /** The gate may pause before it has answered. */
  pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#mediaTimer);
    this.#options.connection.pause?.();
  }

  resume(): void {
    this.#isPaused = false;
    this.#expectMedia();
    this.#release();
    if (!this.#isPaused) this.#options.connection.resume?.();
  }

  transport(): TransportStats | undefined {
    return this.#options.connection.transport?.();
  }

  /** The publisher is gone, or its connection is about to be closed. */
  end(reason: PublisherCloseReason): void {
    if (this.#closeReason !== undefined) return;
    this.#isPaused = false;
    this.#release();
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#held = [];
    clearTimeout(this.#mediaTimer);
    const sink = this.#sink;
    if (sink === undefined) {
      this.#ending.abort();
      return;
    }
    const { observer, log, connection } = this.#options;
    observer.publisherClosed(reason);
    const totals = { bytesIn: this.bytesIn, events: this.#events, ...connection.totals?.() };
    log.info('publisher-closed', { ...this.#logData, reason, ...totals });
    this.#guard(() => sink.closed(reason));
  }

  /** The receiver may pause again while it takes what was held. */
  #release(): void {
    // A receiver may also resume while it still takes an earlier event.
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    while (this.#sink !== undefined && this.#held.length > 0 && !this.#isPaused && !this.isEnded) {
      const event = this.#held.shift()!;
      this.#heldBytes -= bytesOf(event);
      this.#pass(event);
    }
    this.#isReleasing = false;
  }

  #pass(event: MediaEvent): void {
    this.#events += 1;
    if (event.type === 'sample') this.#mediaTimer?.refresh();
    try {
      this.#sink?.media(event);
    } catch (error) {
      this.#options.log.error('sink-failed', { error });
      this.#options.connection.failed();
    }
  }

  /** Publishers can stay connected, for example by keepalives, without sending audio or video. */
  #expectMedia(): void {
    clearTimeout(this.#mediaTimer);
    const { mediaTimeoutMs } = this.#options.gate;
    if (mediaTimeoutMs === undefined || this.#sink === undefined || this.#isPaused || this.isEnded) return;
    const seconds = Math.round(mediaTimeoutMs / 1000);
    const text = `No audio or video arrived for ${seconds} s. Check the sources in the encoder, then connect again.`;
    this.#mediaTimer = setTimeout(() => this.close(text, 'idle-timeout'), mediaTimeoutMs);
    this.#mediaTimer.unref();
  }

  get #logData(): LogData {
    const { request, logData } = this.#options;
    const { streamKey, encoder } = request;
    return { streamKey: maskStreamKey(streamKey), encoder, ...logData };
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.log.error('sink-failed', { error });
    }
  }
}

function bytesOf(event: MediaEvent): number {
  return event.type === 'sample' || event.type === 'config' ? event.data.length : 0;
}
