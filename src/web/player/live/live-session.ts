import { BackOff } from '../../shared/back-off.ts';
import type { PlayerSettings } from '../media/player-settings.ts';
import type { Refusal } from '../media/refusal.ts';
import { playableWith } from './live-hls.ts';
import { LiveMedia, type LiveMediaOptions } from './live-media.ts';
import type { StoryboardRange } from './live-playlist.ts';
import { type StreamState, StreamWatcher } from './stream-watcher.ts';
import { WebRtcMedia } from './webrtc-media.ts';
import { WebRtcRewind } from './webrtc-rewind.ts';

/**
 * `starting`: live, without a frame yet; `reconnecting`: failed, will continue; `refused`: this viewer may not play it;
 * `unsupported`: by this browser.
 */
export type Phase = 'waiting' | 'starting' | 'live' | 'reconnecting' | 'ended' | 'refused' | 'unsupported';

interface StreamAddresses {
  /** URLs of the multivariant playlist, now and after the stream becomes public. */
  readonly hls: readonly string[];
  /** The path of the page, such as `/live/li…`. */
  readonly page: string;
  /** Empty, or a query that begins with `?`. */
  readonly query: string;
  /** URL of the WHEP endpoint; undefined where the live stream has none. */
  readonly whep: string | undefined;
}

interface LiveSessionHandlers {
  onPhase(phase: Phase): void;
  onReachable(isReachable: boolean): void;
  onSourceStalled(isSilent: boolean): void;
  /** Renditions, or those that play. */
  onMediaChange?(): void;
}

/** Playback for this long resets the retry delays. */
const stableMs = 10_000;
/** Delay before looking for another server that continues the broadcast. */
const otherServerDelayMs = 2000;

export class LiveSession {
  readonly media: LiveMedia;
  /** Replaces {@link media} while it is active. */
  readonly webRtc: WebRtcMedia;
  readonly #rewind: WebRtcRewind;
  readonly #video: HTMLVideoElement;
  readonly #hls: readonly string[];
  readonly #whep: string | undefined;
  readonly #settings: PlayerSettings;
  readonly #handlers: LiveSessionHandlers;
  readonly #watcher: StreamWatcher;
  readonly #backOff = new BackOff(300, 8000);
  #phase: Phase = 'waiting';
  #refusal: Refusal | undefined;
  #broadcastId: string | null = null;
  #endedBroadcastId: string | null = null;
  #steadyTimer = 0;
  #retryTimer = 0;
  #isEnded = false;
  /** The broadcast that could not be played over WebRTC. */
  #refusedBroadcastId: string | null | undefined;
  /** HLS plays because the viewer went back; the live edge is played over WebRTC again. */
  #hasGoneBack = false;
  /** Seeks once HLS has its first frame. */
  #isSeekPending = false;
  /** WebRTC broke off, and the state decides what follows. */
  #isFallingBack = false;

  constructor(
    addresses: StreamAddresses,
    video: HTMLVideoElement,
    options: LiveMediaOptions,
    handlers: LiveSessionHandlers,
  ) {
    this.#hls = addresses.hls;
    this.#whep = addresses.whep;
    this.#settings = options.settings;
    this.#video = video;
    this.#handlers = handlers;
    this.#watcher = new StreamWatcher(addresses.page, addresses.query, {
      onState: state => this.#onState(state),
      onReachable: isReachable => handlers.onReachable(isReachable),
      onRefused: refusal => this.#onRefused(refusal),
    });
    this.media = new LiveMedia(video, options, {
      onNotYet: () => {},
      onEnded: () => this.#onEnded(),
      onPublisherStopped: () => this.#onPublisherStopped(),
      onFailed: () => this.#onFailed(),
      onSourceStalled: isSilent => handlers.onSourceStalled(isSilent),
      onChange: () => handlers.onMediaChange?.(),
    });
    const { clock, signal } = options;
    this.#rewind = new WebRtcRewind(video, clock);
    const webRtcHandlers = {
      onAnswer: (answer: Headers) => this.#rewind.answered(answer, addresses.hls[0] ?? location.href),
      onLost: (hasPlayed: boolean) => this.#onWebRtcLost(hasPlayed),
    };
    this.webRtc = new WebRtcMedia(video, webRtcHandlers, signal);
    video.addEventListener('loadeddata', () => this.#onFirstFrame(), { signal });
  }

  get hasUltraLowLatency(): boolean {
    return this.#whep !== undefined && typeof RTCPeerConnection === 'function';
  }

  chooseUltraLowLatency(isWanted: boolean): void {
    this.#settings.save({ ultraLowLatency: isWanted });
    this.#refusedBroadcastId = undefined;
    this.#hasGoneBack = false;
    if (isWanted === this.webRtc.isActive || !this.#isLoaded) return;
    this.#reload();
  }

  seekBy(seconds: number): void {
    if (this.#timeline === this.media) this.media.seekBy(seconds);
    else this.#goBack(this.#rewind.behindSeconds - seconds);
  }

  /** @param position of the video element */
  seekTo(position: number): void {
    if (this.#timeline === this.media) this.media.seekTo(position);
    else this.seekBy(position - this.#video.currentTime);
  }

  /** 0 is the oldest position, 1 the live edge. */
  seekToFraction(part: number): void {
    if (this.#timeline === this.media) {
      this.media.seekToFraction(part);
      return;
    }
    const { start, end } = this.rewindRange() ?? { start: 0, end: 0 };
    this.#goBack((1 - part) * (end - start));
  }

  /** Seconds of the video element. */
  rewindRange(): { readonly start: number; readonly end: number } | undefined {
    return this.#timeline.rewindRange();
  }

  dateAt(position: number): Date | undefined {
    return this.#timeline.dateAt(position);
  }

  storyboardRange(): StoryboardRange | undefined {
    return this.#timeline.storyboardRange();
  }

  /** HLS, once it has media. */
  get #timeline(): LiveMedia | WebRtcRewind {
    return this.webRtc.isActive || this.#isSeekPending ? this.#rewind : this.media;
  }

  goToLive(): void {
    if (!this.#hasGoneBack) {
      this.media.goToLive();
      return;
    }
    this.#hasGoneBack = false;
    this.#refusedBroadcastId = undefined;
    this.#reload();
  }

  /** True when {@link goToLive} would gain next to nothing. */
  isAtNewestMedia(): boolean {
    return this.webRtc.isActive || (!this.#hasGoneBack && this.media.isAtNewestMedia());
  }

  /** Latency from the server to the screen. */
  latencySeconds(): number | undefined {
    return this.webRtc.isActive ? this.webRtc.latencySeconds : this.media.latencySeconds();
  }

  isBehindLive(isPlaying: boolean): boolean {
    if (this.webRtc.isActive) return !isPlaying;
    return this.#hasGoneBack || this.media.isBehindLive(isPlaying);
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Defined in the phase `refused`. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  start(video: HTMLVideoElement, state: StreamState): void {
    if (playableWith(video) === undefined) {
      this.#setPhase('unsupported');
      return;
    }
    this.#watcher.start();
    this.#onState(state);
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#steadyTimer);
    clearTimeout(this.#retryTimer);
    this.#watcher.stop();
    this.#stopMedia();
  }

  get #isLoaded(): boolean {
    return this.media.isLoaded || this.webRtc.isActive;
  }

  #load(): void {
    const isRefused = this.#refusedBroadcastId === this.#broadcastId;
    if (this.#whep !== undefined && this.#settings.current.ultraLowLatency && !isRefused) {
      this.#rewind.goLive();
      this.webRtc.start(this.#whep);
    } else this.media.load(this.#hls);
  }

  /** WebRTC has nothing but the live edge. */
  #goBack(behindSeconds: number): void {
    if (behindSeconds <= 0) return;
    this.#rewind.goBack(behindSeconds);
    if (this.#isSeekPending) return;
    this.#hasGoneBack = true;
    this.#refusedBroadcastId = this.#broadcastId;
    this.#reload();
    this.#isSeekPending = true;
  }

  #reload(): void {
    this.#stopMedia();
    this.#load();
  }

  #stopMedia(): void {
    this.#isFallingBack = false;
    this.#isSeekPending = false;
    this.webRtc.stop();
    this.media.stop();
  }

  /** HLS plays the broadcast, if it goes on. */
  #onWebRtcLost(hasPlayed: boolean): void {
    this.#refusedBroadcastId = this.#broadcastId;
    if (!hasPlayed) {
      this.media.load(this.#hls);
      return;
    }
    this.#isFallingBack = true;
    this.#setPhase('reconnecting');
    this.#watcher.start();
  }

  #fallBack(state: StreamState): void {
    this.#isFallingBack = false;
    if (!state.live) {
      this.#onEnded();
      return;
    }
    this.#broadcastId = state.broadcastId;
    this.#refusedBroadcastId = state.broadcastId;
    this.media.load(this.#hls);
  }

  #onState(state: StreamState): void {
    if (this.#isEnded) return;
    if (this.#isFallingBack) {
      this.#fallBack(state);
      return;
    }
    if (!state.live) {
      if (this.#phase !== 'starting' && this.#phase !== 'reconnecting') return;
      this.#stopMedia();
      this.#setPhase(this.#phase === 'starting' ? 'waiting' : 'ended');
      return;
    }
    // The playlist ends a moment before the state changes.
    if (this.#phase === 'ended' && state.broadcastId === this.#endedBroadcastId) return;
    if (this.#phase === 'live') return;
    if (this.#isLoaded && state.broadcastId === this.#broadcastId) return;
    if (state.broadcastId !== this.#broadcastId) this.#rewind.reset();
    this.#broadcastId = state.broadcastId;
    this.#hasGoneBack = false;
    if (this.#phase !== 'reconnecting') this.#setPhase('starting');
    this.webRtc.stop();
    this.#load();
  }

  #onFirstFrame(): void {
    if (!this.#isLoaded) return;
    // Frees one of the six HTTP/1.1 connections that a browser has per server.
    this.#watcher.stop();
    if (this.#isSeekPending) this.#seekBehindLive();
    this.#setPhase('live');
    clearTimeout(this.#steadyTimer);
    this.#steadyTimer = setTimeout(() => this.#backOff.reset(), stableMs);
  }

  #seekBehindLive(): void {
    this.#isSeekPending = false;
    const range = this.media.rewindRange();
    if (range !== undefined) this.media.seekTo(range.end - this.#rewind.behindSeconds);
  }

  #onEnded(): void {
    this.#endedBroadcastId = this.#broadcastId;
    this.media.stop();
    this.#setPhase('ended');
    this.#watcher.start();
  }

  #onRefused(refusal: Refusal): void {
    this.#stopMedia();
    this.#refusal = refusal;
    this.#setPhase('refused');
  }

  #onPublisherStopped(): void {
    this.media.stop();
    this.#setPhase('ended');
    // Analytics listen to the element, which does not end by itself.
    this.#video.dispatchEvent(new Event('ended'));
    this.#watcher.start();
  }

  #onFailed(): void {
    clearTimeout(this.#steadyTimer);
    clearTimeout(this.#retryTimer);
    if (this.#phase === 'live') this.#setPhase('reconnecting');
    this.#watcher.stop();
    const maxDelayMs = this.media.hasOtherServers ? otherServerDelayMs : Number.POSITIVE_INFINITY;
    const delayMs = Math.min(maxDelayMs, this.#backOff.next());
    this.#retryTimer = setTimeout(() => this.#watcher.start(), delayMs);
  }

  #setPhase(phase: Phase): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#handlers.onPhase(phase);
  }
}
