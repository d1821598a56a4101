import type { SenderReport } from '../../media/rtp/rtcp.ts';
import { codecs, type MediaEvent, ticksPerMs } from '../../media/samples/media-sample.ts';
import { newId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import { maskStreamKey } from '../../shared/secret.ts';
import type { OrderedPacket } from '../../webrtc/rtp/jitter-buffer.ts';
import type { ReceiveTrack } from '../../webrtc/rtp/receive-track.ts';
import type { WebRtcCloseReason, WebRtcSession, WebRtcSessionEvents } from '../../webrtc/webrtc-session.ts';
import type { IngestObserver } from '../ingest-observer.ts';
import { PausableSink } from '../pausable-sink.ts';
import type {
  PublisherCloseReason,
  PublisherConnection,
  PublisherEndReason,
  PublisherSink,
  TransportStats,
} from '../publish-gate.ts';
import { videoCodecOf } from './accept-offer.ts';
import { MediaClock } from './media-clock.ts';
import { opusHead } from './opus-head.ts';
import { VideoReceiver } from './video-receiver.ts';

interface WhipSessionOptions {
  readonly streamKey: string;
  readonly encoder: string;
  readonly remoteAddress: string;
  readonly observer: IngestObserver;
  readonly log: Logger;
  connected(): void;
  /** With the text for the publisher. */
  ended(reason: PublisherCloseReason, description: string): void;
}

const closeReasons: Readonly<Record<WebRtcCloseReason, PublisherCloseReason>> = {
  'peer-closed': 'connection-closed',
  'handshake-failed': 'connection-error',
  'connect-timeout': 'connection-error',
  'idle-timeout': 'idle-timeout',
};

const countEveryMs = 1_000;
/** Media time of the first packet: with B-frames, the first frame is decoded earlier than it is displayed. */
const firstMs = 2_000;

/** One publisher over WHIP, from the accepted offer to its end. */
export class WhipSession implements PublisherConnection {
  readonly connectionId = newId('co');
  readonly #options: WhipSessionOptions;
  readonly #log: Logger;
  readonly #videos = new Map<ReceiveTrack, VideoReceiver>();
  #sink: PausableSink | undefined;
  #webRtc: WebRtcSession | undefined;
  #clock: MediaClock | undefined;
  #hasAudioConfig = false;
  #isPaused = false;
  #isClosed = false;
  #tags = 0;
  #countedAtMs = 0;
  #counted = { packetsReceived: 0, packetsLost: 0, packetsRecovered: 0 };

  constructor(options: WhipSessionOptions) {
    this.#options = options;
    const { remoteAddress, log } = options;
    this.#log = log.child('ingest', { connectionId: this.connectionId, protocol: 'whip', remoteAddress });
    options.observer.connectionOpened();
  }

  get remoteAddress(): string {
    return this.#options.remoteAddress;
  }

  get bytesIn(): number {
    return this.#webRtc?.bytesIn ?? 0;
  }

  get webRtc(): WebRtcSession | undefined {
    return this.#webRtc;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  readonly events: WebRtcSessionEvents = {
    connected: ({ protocol, address }) => {
      this.#log.info('webrtc-connected', { transport: protocol, address });
      this.#options.connected();
    },
    packet: (track, packet) => this.#guard(() => this.#receive(track, packet)),
    senderReport: (track, report) => this.#synchronize(track, report),
    bytesIn: count => this.#options.observer.bytesIn(count),
    closed: (reason, detail) => {
      this.#log.info('webrtc-closed', { reason, detail });
      this.end(closeReasons[reason], detail);
    },
  };

  /** Returns false, and closes the sink, when the session has ended meanwhile. */
  accept(sink: PublisherSink): boolean {
    if (this.#isClosed) {
      this.#closeSink(sink, 'ended-by-server');
      return false;
    }
    this.#sink = new PausableSink(sink);
    if (this.#isPaused) this.#sink.pause();
    const { observer, streamKey, encoder } = this.#options;
    observer.publisherOpened();
    this.#log.info('publisher-opened', { streamKey: maskStreamKey(streamKey), encoder });
    return true;
  }

  connect(webRtc: WebRtcSession): void {
    this.#webRtc = webRtc;
    if (this.#isClosed) webRtc.close();
  }

  refuse(description: string): void {
    this.end('ended-by-server', description);
  }

  close(description: string, reason: PublisherEndReason = 'ended-by-server'): void {
    this.end(reason, description);
  }

  /** The gate may pause before it has answered. */
  pause(): void {
    this.#isPaused = true;
    this.#sink?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#sink?.resume();
  }

  transport(): TransportStats {
    const totals = this.#webRtc?.tracks.map(track => track.totals) ?? [];
    const sum = (name: 'received' | 'lost' | 'recovered') =>
      totals.reduce((total, each) => total + each[name], 0);
    return {
      roundTripMs: this.#webRtc?.roundTripMs,
      packetsReceived: sum('received'),
      packetsLost: sum('lost'),
      packetsRecovered: sum('recovered'),
    };
  }

  end(reason: PublisherCloseReason, description: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { observer, streamKey, ended } = this.#options;
    this.#webRtc?.close();
    this.#countPackets();
    const sink = this.#sink;
    if (sink !== undefined) {
      observer.publisherClosed(reason);
      const totals = { bytesIn: this.bytesIn, tags: this.#tags, ...this.transport() };
      this.#log.info('publisher-closed', { streamKey: maskStreamKey(streamKey), reason, ...totals });
      this.#closeSink(sink, reason);
    }
    observer.connectionClosed(reason);
    ended(reason, description);
  }

  #receive(track: ReceiveTrack, packet: OrderedPacket): void {
    if (this.#clock === undefined) {
      this.#clock = new MediaClock(packet.arrivedAtMs - firstMs);
      this.#declareTracks();
    }
    if (packet.arrivedAtMs - this.#countedAtMs >= countEveryMs) {
      this.#countedAtMs = packet.arrivedAtMs;
      this.#countPackets();
    }
    if (track.kind === 'audio') this.#receiveAudio(track, packet);
    else this.#videoOf(track).push(packet, performance.now());
  }

  #receiveAudio({ codec }: ReceiveTrack, { packet, arrivedAtMs }: OrderedPacket): void {
    if (packet.payload.length === 0) return;
    const dtsMs = this.#clock!.timeOf('audio', codec.clockRate, packet.timestamp, arrivedAtMs);
    const track = { kind: 'audio', trackId: 0, codec: codecs.Opus } as const;
    if (!this.#hasAudioConfig) {
      this.#hasAudioConfig = true;
      this.#emit({ type: 'config', ...track, data: opusHead() });
    }
    const dtsTicks = Math.floor(dtsMs) * ticksPerMs;
    const data = packet.payload;
    this.#emit({ type: 'sample', ...track, dtsTicks, ptsTicks: dtsTicks, isKeyframe: false, data });
  }

  /** Makes the broadcast wait for both tracks, whichever comes first. */
  #declareTracks(): void {
    const kinds = (this.#webRtc?.tracks ?? []).map(({ kind }) => kind);
    const media = { hasAudio: kinds.includes('audio'), hasVideo: kinds.includes('video') };
    this.#emit({ type: 'declared', media });
  }

  #countPackets(): void {
    const last = this.#counted;
    const { packetsReceived, packetsLost, packetsRecovered } = this.transport();
    this.#counted = { packetsReceived, packetsLost, packetsRecovered };
    this.#options.observer.packets(
      packetsReceived - last.packetsReceived,
      packetsLost - last.packetsLost,
      packetsRecovered - last.packetsRecovered,
    );
  }

  #videoOf(track: ReceiveTrack): VideoReceiver {
    const known = this.#videos.get(track);
    if (known !== undefined) return known;
    const { codec } = track;
    const receiver = new VideoReceiver({
      codec: videoCodecOf(codec)!,
      timeOf: (timestamp, arrivedAtMs) =>
        this.#clock!.timeOf('video', codec.clockRate, timestamp, arrivedAtMs),
      emit: event => this.#emit(event),
      requestKeyframe: () => this.#webRtc?.requestKeyframe(track),
    });
    this.#videos.set(track, receiver);
    return receiver;
  }

  #synchronize(track: ReceiveTrack, report: SenderReport): void {
    this.#clock?.senderReport(track.kind, report);
  }

  #emit(event: MediaEvent): void {
    if (this.#sink === undefined || this.#isClosed) return;
    this.#tags += 1;
    this.#sink.media(event);
  }

  /** Media that cannot be used ends this session only. */
  #guard(use: () => void): void {
    try {
      use();
    } catch (error) {
      this.#log.error('sink-failed', { error });
      this.end(
        'ended-by-server',
        'The server could not process the stream. Check the encoder settings, then connect again.',
      );
    }
  }

  #closeSink(sink: PublisherSink, reason: PublisherCloseReason): void {
    try {
      sink.closed(reason);
    } catch (error) {
      this.#log.error('sink-failed', { error });
    }
  }
}
