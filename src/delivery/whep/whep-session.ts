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
const countEveryMs = 1_000;
const recheckEveryMs = 5_000;

/** One viewer over WHEP, from the accepted offer to its end. */
export class WhepSession implements FrameReceiver {
  readonly ice = new IceUpdates();
  readonly #options: WhepSessionOptions;
  #webRtc: WebRtcSession | undefined;
  #tracks: Partial<Record<'audio' | 'video', SendTrack>> = {};
  /** Video that is sent in the next ticks, so that the recent frames do not overrun the network. */
  #pending: MediaFrame[] = [];
  #needsKeyframe = true;
  #isConnected = false;
  #isClosed = false;
  #bytes = 0;
  #totalBytes = 0;
  #countedAtMs = 0;
  #recheckedAtMs = 0;

  constructor(options: WhepSessionOptions) {
    this.#options = options;
    options.broadcast.add(this);
  }

  /** Undefined before it is open. */
  get webRtc(): WebRtcSession | undefined {
    return this.#webRtc;
  }

  get isClosed(): boolean {
    return this.#isClosed;
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
    if (this.#isClosed) webRtc.close();
  }

  frame(frame: MediaFrame): void {
    if (!this.#isConnected) return;
    if (this.#webRtc?.canSend !== true) {
      this.#skipToKeyframe();
      return;
    }
    if (frame.kind === 'audio') {
      this.#send(frame);
      return;
    }
    if (this.#needsKeyframe && !frame.isKeyframe) return;
    this.#needsKeyframe = false;
    if (this.#pending.length === 0) this.#send(frame);
    else if (this.#pending.length < maxPendingFrames) this.#pending.push(frame);
    else this.#skipToKeyframe();
  }

  ended(reason: string): void {
    this.#options.log.info('viewer-ended', { reason });
    this.end();
  }

  end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { broadcast, log, ended } = this.#options;
    broadcast.remove(this);
    this.#pending = [];
    this.#count();
    this.#webRtc?.close();
    const resent = this.#tracks.video?.totals.resent ?? 0;
    log.info('viewer-closed', { bytesOut: this.#totalBytes, resent });
    ended();
  }

  #join({ protocol, address }: { protocol: 'udp' | 'tcp'; address: string }): void {
    this.#options.log.info('webrtc-connected', { transport: protocol, address });
    this.#options.connected();
    this.#pending = [...this.#options.broadcast.recentVideo()];
    this.#needsKeyframe = this.#pending.length === 0;
    this.#isConnected = true;
  }

  #tick(nowMs: number): void {
    if (this.#isClosed) return;
    this.#sendPending();
    if (nowMs - this.#countedAtMs >= countEveryMs) {
      this.#countedAtMs = nowMs;
      this.#count();
    }
    if (nowMs - this.#recheckedAtMs >= recheckEveryMs) {
      this.#recheckedAtMs = nowMs;
      void this.#recheck();
    }
  }

  #sendPending(): void {
    let sent = 0;
    let count = 0;
    for (const frame of this.#pending) {
      if (sent >= maxPendingPacketsPerTick || this.#webRtc?.canSend !== true) break;
      this.#send(frame);
      sent += frame.payloads().length;
      count += 1;
    }
    this.#pending.splice(0, count);
  }

  #send(frame: MediaFrame): void {
    const track = this.#tracks[frame.kind];
    if (track === undefined) return;
    const { timestamp, ntpMs } = frame;
    const sent = this.#webRtc?.sendFrame(track, { timestamp, ntpMs, payloads: frame.payloads() }) ?? 0;
    this.#bytes += sent;
    this.#totalBytes += sent;
  }

  #skipToKeyframe(): void {
    this.#pending = [];
    this.#needsKeyframe = true;
  }

  #count(): void {
    if (!this.#isConnected) return;
    this.#options.watched(this.#bytes);
    this.#bytes = 0;
  }

  /** Checks access again. Viewers stay while the database does not answer. */
  async #recheck(): Promise<void> {
    const isAdmitted = await this.#options.isStillAdmitted().catch(() => true);
    if (!isAdmitted) this.ended('The viewer is no longer allowed to watch.');
  }
}
