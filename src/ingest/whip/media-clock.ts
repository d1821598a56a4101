import type { SenderReport } from '../../media/rtp/rtcp.ts';
import type { MediaKind } from '../../webrtc/sdp/session-description.ts';

interface TrackClock {
  readonly clockRate: number;
  /** Timestamp of the newest packet, without wraps. */
  timestamp: number;
  /** Time of timestamp `anchor`. */
  anchor: number;
  anchorMs: number;
  /** A moment on the sender's clock and on this one. */
  report: { readonly ntpMs: number; readonly ms: number } | undefined;
}

/** A larger difference to the arrival is a restart of the sender. */
const maxDeviationMs = 10_000;
/** Share of the elapsed time by which video is moved at most, so that it never runs backwards. */
const maxSlew = 0.1;
/** Corrections below this are not made; they are not visible. */
const minCorrectionMs = 2;

/**
 * Puts the RTP timestamps of both tracks on one clock. The first packet of a track gets the time of its arrival. Sender
 * reports tell how the tracks belong together, and video follows audio, whose timestamps stay exact.
 */
export class MediaClock {
  readonly #tracks = new Map<MediaKind, TrackClock>();
  readonly #startMs: number;
  #correctionMs = 0;
  #lastVideoMs: number | undefined;

  /** @param startMs becomes 0 */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** Returns the time in milliseconds, not rounded. @param timestamp in order, per track */
  timeOf(kind: MediaKind, clockRate: number, timestamp: number, arrivedAtMs: number): number {
    const arrivalMs = arrivedAtMs - this.#startMs;
    const track = this.#tracks.get(kind) ?? this.#createTrack(kind, clockRate, timestamp, arrivalMs);
    track.timestamp += (timestamp - track.timestamp) | 0;
    if (Math.abs(timeAt(track, track.timestamp) - arrivalMs) > maxDeviationMs) {
      track.anchor = track.timestamp;
      track.anchorMs = arrivalMs;
      track.report = undefined;
    }
    const ms = timeAt(track, track.timestamp);
    return kind === 'audio' ? ms : this.#corrected(ms);
  }

  senderReport(kind: MediaKind, { ntpMs, rtpTimestamp }: SenderReport): void {
    const track = this.#tracks.get(kind);
    if (track === undefined) return;
    const timestamp = track.timestamp + ((rtpTimestamp - track.timestamp) | 0);
    track.report = { ntpMs, ms: timeAt(track, timestamp) };
  }

  #createTrack(kind: MediaKind, clockRate: number, timestamp: number, anchorMs: number): TrackClock {
    const track = { clockRate, timestamp, anchor: timestamp, anchorMs, report: undefined };
    this.#tracks.set(kind, track);
    return track;
  }

  #corrected(ms: number): number {
    const elapsedMs = this.#lastVideoMs === undefined ? Infinity : Math.max(0, ms - this.#lastVideoMs);
    this.#lastVideoMs = ms;
    const missing = this.#wantedCorrectionMs() - this.#correctionMs;
    if (Math.abs(missing) > minCorrectionMs) {
      this.#correctionMs += Math.sign(missing) * Math.min(Math.abs(missing), elapsedMs * maxSlew);
    }
    return ms + this.#correctionMs;
  }

  #wantedCorrectionMs(): number {
    const audio = this.#tracks.get('audio')?.report;
    const video = this.#tracks.get('video')?.report;
    if (audio === undefined || video === undefined) return this.#correctionMs;
    const wanted = audio.ms - audio.ntpMs - (video.ms - video.ntpMs);
    // Senders with one clock per track cannot be aligned.
    return Math.abs(wanted) > maxDeviationMs ? this.#correctionMs : wanted;
  }
}

function timeAt({ clockRate, anchor, anchorMs }: TrackClock, timestamp: number): number {
  return anchorMs + ((timestamp - anchor) * 1000) / clockRate;
}
