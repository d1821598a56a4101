import type { Logger } from '../../shared/logger.ts';
import { IceUpdates } from '../../webrtc/ice-updates.ts';
import type { SendTrack } from '../../webrtc/rtp/send-track.ts';
import type { WebRtcSession, WebRtcSessionEvents } from '../../webrtc/webrtc-session.ts';
import type { FrameReceiver, MediaFrame, WhepBroadcast } from './whep-source.ts';

interface WhepSessionOptions {
  readonly broadcast: WhepBroadcast;
  readonly log: Logger;
  /** Counts the viewer, who has got so many bytes since the last call. */
  watched(bytes: number): void;
  isStillAdmitted(): Promise<boolean>;
  connected(): void;
  /** The client never reached the WebRTC port. */
  unconnected(): void;
  ended(): void;
}

/** Packets of the recent video a tick, for a viewer who joins: about 40 Mbit/s. */
const maxPendingPacketsPerTick = 100;
/** Frames above which the client cannot keep up. */
const maxPendingFrames = 2_400;
/** Video that may wait for a network with limited bandwidth, in units of the RTP clock. Older video is dropped. */
const maxPendingTicks = 90_000;
/** Video that waits longer is dropped when a keyframe comes. */
const maxLateTicks = 22_500;
/** Share of the limit that a rendition may take; the rest is for audio, retransmissions and peaks. */
const usableShare = 0.8;
/** Share of the limit at which waiting video is sent. */
const pacingShare = 0.95;
const maxSavedPacingMs = 50;
const countEveryMs = 1_000;
const recheckEveryMs = 5_000;

type State = 'connecting' | 'connected' | 'closed';

/** Paces video on a network with limited bandwidth. */
class SendPacing {
  /** Bytes that may be sent now. */
  #allowedBytes = 0;
  #tickedAtMs = 0;

  get isSpent(): boolean {
    return this.#allowedBytes <= 0;
  }

  tick(limit: number, nowMs: number): void {
    const bytesPerMs = (limit * pacingShare) / 8_000;
    const elapsedMs = Math.max(1, nowMs - this.#tickedAtMs);
    this.#tickedAtMs = nowMs;
    this.#allowedBytes = Math.min(
      this.#allowedBytes + bytesPerMs * elapsedMs,
      bytesPerMs * Math.max(maxSavedPacingMs, elapsedMs),
    );
  }

  spend(bytes: number): void {
    this.#allowedBytes -= bytes;
  }
}

/** Something that is done again after a time. */
class Recurrence {
  readonly #everyMs: number;
  #lastAtMs = 0;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** True once in each period. */
  isDue(nowMs: number): boolean {
    if (nowMs - this.#lastAtMs < this.#everyMs) return false;
    this.#lastAtMs = nowMs;
    return true;
  }
}

/** One viewer over WHEP, from the accepted offer to its end. */
export class WhepSession implements FrameReceiver {
  readonly ice = new IceUpdates();
  readonly #options: WhepSessionOptions;
  #webRtc: WebRtcSession | undefined;
  #tracks: Partial<Record<'audio' | 'video', SendTrack>> = {};
  /** Video that is sent in the next ticks, so that the recent frames do not overrun the network. */
  #pending: MediaFrame[] = [];
  /** Payloads of the first pending frame that were sent. */
  #sentPayloads = 0;
  readonly #pacing = new SendPacing();
  /** The rendition that is sent, and the one that replaces it at its next keyframe. */
  #rendition: string | undefined;
  #wantedRendition: string | undefined;
  #isBest = false;
  #newestTimestamp = Number.NEGATIVE_INFINITY;
  #needsKeyframe = true;
  #state: State = 'connecting';
  #bytes = 0;
  #totalBytes = 0;
  readonly #counting = new Recurrence(countEveryMs);
  readonly #rechecking = new Recurrence(recheckEveryMs);

  constructor(options: WhepSessionOptions) {
    this.#options = options;
    options.broadcast.add(this);
  }

  /** Undefined before it is open. */
  get webRtc(): WebRtcSession | undefined {
    return this.#webRtc;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  readonly events: WebRtcSessionEvents = {
    connected: path => this.#join(path),
    tick: nowMs => this.#tick(nowMs),
    closed: (reason, detail) => {
      this.#options.log.info('webrtc-closed', { reason, detail });
      if (reason === 'connect-timeout') this.#options.unconnected();
      this.end();
    },
  };

  connect(webRtc: WebRtcSession): void {
    this.#webRtc = webRtc;
    this.#tracks = Object.fromEntries(webRtc.sendTracks.map(({ track }) => [track.kind, track]));
    if (this.isClosed) webRtc.close();
  }

  frame(frame: MediaFrame): void {
    if (this.#state !== 'connected') return;
    if (this.#webRtc?.canSend !== true) {
      this.#skipToKeyframe();
      return;
    }
    if (frame.kind === 'audio') {
      this.#send(frame);
      return;
    }
    if (!this.#isOfRendition(frame)) return;
    if (this.#needsKeyframe && !frame.isKeyframe) return;
    this.#needsKeyframe = false;
    this.#newestTimestamp = frame.timestamp;
    const isLimited = this.#webRtc.sendLimit !== Number.POSITIVE_INFINITY;
    const late = frame.timestamp - (this.#pending[0]?.timestamp ?? frame.timestamp);
    if (isLimited && frame.isKeyframe && late > maxLateTicks) this.#dropPending();
    if (this.#pending.length === 0 && !isLimited) this.#send(frame);
    else if (this.#pending.length >= maxPendingFrames) this.#skipToKeyframe();
    else if (isLimited && late > maxPendingTicks && !frame.isKeyframe) this.#needsKeyframe = true;
    else this.#pending.push(frame);
  }

  ended(reason: string): void {
    this.#options.log.info('viewer-ended', { reason });
    this.end();
  }

  end(): void {
    if (this.isClosed) return;
    const { broadcast, log, ended } = this.#options;
    const wasConnected = this.#state === 'connected';
    this.#state = 'closed';
    broadcast.remove(this);
    this.#pending = [];
    if (wasConnected) this.#count();
    this.#webRtc?.close();
    const resent = this.#tracks.video?.totals.resent ?? 0;
    log.info('viewer-closed', { bytesOut: this.#totalBytes, resent });
    ended();
  }

  /** Decides which frames of which rendition are sent. A rendition changes at a keyframe that is newer than what was sent. */
  #isOfRendition({ rendition, isKeyframe, timestamp }: MediaFrame): boolean {
    const wanted = this.#wantedRendition ?? rendition;
    this.#rendition ??= wanted;
    if (rendition === this.#rendition) {
      return rendition === wanted || !this.#needsKeyframe;
    }
    if (rendition !== wanted || !isKeyframe || timestamp <= this.#newestTimestamp) return false;
    this.#rendition = rendition;
    this.#dropPending();
    return true;
  }

  /** Chooses the best rendition that the network carries, or else the smallest. */
  #chooseRendition(limit: number): void {
    if (limit === Number.POSITIVE_INFINITY && this.#isBest) return;
    const renditions = this.#options.broadcast.renditions();
    // A rendition that is sent already may take a little more, so that it is not left because of small changes.
    const fitting = renditions.findIndex(
      ({ name, bitsPerSecond }) =>
        bitsPerSecond <= limit * (name === this.#wantedRendition ? pacingShare : usableShare),
    );
    const chosen = fitting === -1 ? renditions.length - 1 : fitting;
    const wanted = renditions[chosen]?.name;
    this.#isBest = chosen === 0;
    if (wanted === this.#wantedRendition) return;
    const current = renditions.findIndex(({ name }) => name === this.#rendition);
    this.#wantedRendition = wanted;
    if (this.#rendition === undefined || wanted === this.#rendition) return;
    // The network has too much to carry already, and the lower rendition begins at a newer keyframe.
    if (chosen > current) this.#skipToKeyframe();
    this.#options.log.info('viewer-rendition', { rendition: wanted, limit: finite(limit) });
  }

  #join({ protocol, address }: { protocol: 'udp' | 'tcp'; address: string }): void {
    this.#options.log.info('webrtc-connected', { transport: protocol, address });
    this.#options.connected();
    this.#pending = [...this.#options.broadcast.recentVideo()];
    this.#rendition = this.#pending[0]?.rendition;
    this.#newestTimestamp = this.#pending.at(-1)?.timestamp ?? Number.NEGATIVE_INFINITY;
    this.#needsKeyframe = this.#pending.length === 0;
    this.#state = 'connected';
  }

  #tick(nowMs: number): void {
    if (this.isClosed) return;
    const limit = this.#webRtc?.sendLimit ?? Number.POSITIVE_INFINITY;
    this.#chooseRendition(limit);
    this.#sendPending(limit, nowMs);
    if (this.#counting.isDue(nowMs) && this.#state === 'connected') this.#count();
    if (this.#rechecking.isDue(nowMs)) void this.#recheck();
  }

  #sendPending(limit: number, nowMs: number): void {
    this.#pacing.tick(limit, nowMs);
    let allowedPackets = maxPendingPacketsPerTick;
    let count = 0;
    for (const frame of this.#pending) {
      const payloads = frame.payloads();
      while (this.#sentPayloads < payloads.length) {
        if (this.#pacing.isSpent || allowedPackets <= 0 || this.#webRtc?.canSend !== true) {
          this.#pending.splice(0, count);
          return;
        }
        this.#pacing.spend(this.#send(frame, this.#sentPayloads, this.#sentPayloads + 1));
        this.#sentPayloads += 1;
        allowedPackets -= 1;
      }
      this.#sentPayloads = 0;
      count += 1;
    }
    this.#pending = [];
  }

  /** @returns the bytes that were sent @param from first payload @param to end of the payloads */
  #send(frame: MediaFrame, from = 0, to?: number): number {
    const track = this.#tracks[frame.kind];
    if (track === undefined) return 0;
    const { timestamp, ntpMs } = frame;
    const all = frame.payloads();
    const payloads = to === undefined ? all : all.slice(from, to);
    const isUnfinished = to !== undefined && to < all.length;
    const sent = this.#webRtc?.sendFrame(track, { timestamp, ntpMs, payloads, isUnfinished }) ?? 0;
    this.#bytes += sent;
    this.#totalBytes += sent;
    return sent;
  }

  /** Drops what waits, but ends a frame that was begun. */
  #dropPending(): void {
    this.#pending.splice(this.#sentPayloads > 0 ? 1 : 0);
  }

  #skipToKeyframe(): void {
    this.#pending = [];
    this.#sentPayloads = 0;
    this.#needsKeyframe = true;
  }

  #count(): void {
    this.#options.watched(this.#bytes);
    this.#bytes = 0;
  }

  /** Checks access again. Viewers stay while the database does not answer. */
  async #recheck(): Promise<void> {
    const isAdmitted = await this.#options.isStillAdmitted().catch(() => true);
    if (!isAdmitted) this.ended('The viewer is no longer allowed to watch.');
  }
}

function finite(bitsPerSecond: number): number | undefined {
  return Number.isFinite(bitsPerSecond) ? Math.round(bitsPerSecond) : undefined;
}
