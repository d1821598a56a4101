import type { SenderReport } from '../../media/rtp/rtcp.ts';
import { codecs, ticksPerMs } from '../../media/samples/media-sample.ts';
import { newId } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import type { TransportStats } from '../../shared/network/transport-stats.ts';
import type { OrderedPacket } from '../../webrtc/rtp/jitter-buffer.ts';
import type { ReceiveTrack } from '../../webrtc/rtp/receive-track.ts';
import type { WebRtcCloseReason, WebRtcSession, WebRtcSessionEvents } from '../../webrtc/webrtc-session.ts';
import type { IngestObserver } from '../ingest-observer.ts';
import { Publication } from '../publication.ts';
import type { PublisherCloseReason, PublishGate } from '../publish-gate.ts';
import { videoCodecOf } from './accept-offer.ts';
import { MediaClock } from './media-clock.ts';
import { opusHead } from './opus-head.ts';
import { VideoReceiver } from './video-receiver.ts';

interface WhipSessionOptions {
  readonly streamKey: string;
  readonly query: string;
  readonly encoder: string;
  readonly needsEncoding: boolean;
  readonly remoteAddress: string;
  readonly gate: PublishGate;
  readonly observer: IngestObserver;
  readonly log: Logger;
  connected(): void;
  /** Called at the end, with the text for the publisher. */
  ended(reason: PublisherCloseReason, description: string): void;
}

const closeReasons: Readonly<Record<WebRtcCloseReason, PublisherCloseReason>> = {
  'peer-closed': 'connection-closed',
  'handshake-failed': 'connection-error',
  'connect-timeout': 'connection-error',
  'idle-timeout': 'idle-timeout',
};

const countEveryMs = 1_000;
const unusableText =
  'The server could not process the stream. Check the encoder settings, then connect again.';
/** Media time of the first packet: with B-frames, the first frame is decoded earlier than it is displayed. */
const firstMs = 2_000;

/** One publisher over WHIP, from the accepted offer to its end. */
export class WhipSession {
  readonly publication: Publication;
  readonly #options: WhipSessionOptions;
  readonly #log: Logger;
  readonly #videos = new Map<ReceiveTrack, VideoReceiver>();
  #webRtc: WebRtcSession | undefined;
  #clock: MediaClock | undefined;
  #hasAudioConfig = false;
  #isClosed = false;
  #countedAtMs = 0;
  #counted = { packetsReceived: 0, packetsLost: 0, packetsRecovered: 0 };

  constructor(options: WhipSessionOptions) {
    this.#options = options;
    const { streamKey, query, encoder, needsEncoding, remoteAddress, gate, observer, log } = options;
    const connectionId = newId('co');
    this.#log = log.child('ingest', { connectionId, protocol: 'whip', remoteAddress });
    const session = this;
    this.publication = new Publication({
      request: { connectionId, protocol: 'whip', remoteAddress, streamKey, query, encoder, needsEncoding },
      gate,
      observer,
      log: this.#log,
      connection: {
        get bytesIn() {
          return session.#webRtc?.bytesIn ?? 0;
        },
        end: (description, reason) => this.end(reason, description),
        failed: () => this.end('ended-by-server', unusableText),
        transport: () => this.#transportStats,
        totals: () => ({ ...this.#transportStats }),
      },
    });
    options.observer.connectionOpened();
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

  connect(webRtc: WebRtcSession): void {
    this.#webRtc = webRtc;
    if (this.#isClosed) webRtc.close();
  }

  get #transportStats(): TransportStats {
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
    const { observer, ended } = this.#options;
    this.#webRtc?.close();
    this.#countPackets();
    this.publication.end(reason);
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
      this.publication.media({ type: 'config', ...track, data: opusHead() });
    }
    const dtsTicks = Math.floor(dtsMs) * ticksPerMs;
    const data = packet.payload;
    this.publication.media({
      type: 'sample',
      ...track,
      dtsTicks,
      ptsTicks: dtsTicks,
      isKeyframe: false,
      data,
    });
  }

  /** Makes the broadcast wait for both tracks, whichever comes first. */
  #declareTracks(): void {
    const kinds = (this.#webRtc?.tracks ?? []).map(({ kind }) => kind);
    const media = { hasAudio: kinds.includes('audio'), hasVideo: kinds.includes('video') };
    this.publication.media({ type: 'declared', media });
  }

  #countPackets(): void {
    const last = this.#counted;
    const { packetsReceived, packetsLost, packetsRecovered } = this.#transportStats;
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
      emit: event => this.publication.media(event),
      requestKeyframe: () => this.#webRtc?.requestKeyframe(track),
    });
    this.#videos.set(track, receiver);
    return receiver;
  }

  #synchronize(track: ReceiveTrack, report: SenderReport): void {
    this.#clock?.senderReport(track.kind, report);
  }

  /** Media that cannot be used ends this session only. */
  #guard(use: () => void): void {
    try {
      use();
    } catch (error) {
      this.#log.error('media-failed', { error });
      this.end('ended-by-server', unusableText);
    }
  }
}
