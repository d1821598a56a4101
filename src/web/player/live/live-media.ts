import Hls, { type ErrorData, type LevelDetails } from 'hls.js/dist/hls.light.min.mjs';
import { AudioTracks } from '../media/audio-tracks.ts';
import { nextRate } from '../media/playback-rates.ts';
import type { PlayerSettings } from '../media/player-settings.ts';
import { Recovery, StallDetector } from '../media/recovery.ts';
import { bufferEndAt } from './buffer-end.ts';
import { EndDetector } from './end-detector.ts';
import { LatencyControl } from './latency-control.ts';
import { createLiveHls, isPlaylistRefused, playableWith } from './live-hls.ts';
import {
  endsInGap,
  listsAudio,
  newestFillerReason,
  newestMediaEnd,
  newestSequence,
  oldestMediaStart,
  publishedRange,
  publisherMediaEnd,
  type StoryboardRange,
  startBehindGap,
} from './live-playlist.ts';
import { LiveQualities } from './live-qualities.ts';
import { NativeTimeline } from './native-timeline.ts';
import { PlaylistUrls } from './playlist-urls.ts';
import type { ServerClock } from './server-clock.ts';
import { ServerWatch } from './server-watch.ts';

interface LiveMediaHandlers {
  onNotYet(): void;
  onEnded(): void;
  /** The publisher stopped, and all media was played. The broadcast ends soon unless the publisher returns. */
  onPublisherStopped(): void;
  /** Playback cannot continue; `stop` was called. */
  onFailed(): void;
  onSourceStalled(isSilent: boolean): void;
  /** Called for renditions that are found, and those that play. */
  onChange(): void;
}

export interface LiveMediaOptions {
  readonly clock: ServerClock;
  readonly settings: PlayerSettings;
  /** Ends the use of the video element. */
  readonly signal?: AbortSignal;
}

/** The light build, until a playlist has audio renditions or captions. */
let HlsBuild: typeof Hls = Hls;

const secondMs = 1000;
const paceIntervalMs = 100;
/** Buffer that a switch needs: the other rendition begins with its playlist and a keyframe. */
const switchReserveSeconds = 0.3;
const defaultFrameRate = 30;
/** Counts as live. Native players target whole segments. */
const liveEdgeSeconds = 2.5;
const nativeLiveEdgeSeconds = 10;
const jumpAfterSeconds = 3;
/** Buffer kept by a jump to the newest media. */
const minAheadSeconds = 0.3;
/** Less is not worth the wait for a seek. */
const minGainSeconds = 0.5;
/**
 * A start is repeated when no frame is shown this long after the newest media was loaded. hls.js 1.7 starts with a whole
 * segment. If that is a still without audio, its video waits for audio, which waits for video behind the discontinuity.
 */
const maxStartSeconds = 4;
/** Delay after which the newest parts have the changed tracks only. */
const tracksChangedDelayMs = 800;

type State =
  | { readonly name: 'stopped' }
  | {
      readonly name: 'hls';
      readonly hls: Hls;
      retryTimer: number;
      /** Time since media was loaded, until the first frame. */
      startSeconds: number | undefined;
    }
  | { readonly name: 'native'; retryTimer: number }
  /** Waits to load the broadcast with another instance of hls.js. */
  | { readonly name: 'reloading'; readonly retryTimer: number };

export class LiveMedia {
  readonly audioTracks: AudioTracks;
  readonly #video: HTMLVideoElement;
  readonly #clock: ServerClock;
  readonly #handlers: LiveMediaHandlers;
  readonly #recovery = new Recovery();
  readonly #stallWatch = new StallDetector();
  readonly #latency = new LatencyControl();
  readonly #servers = new ServerWatch({
    onChanged: () => this.#reload(),
    // Runs after hls.js has handled the error.
    onLost: () => queueMicrotask(() => this.isLoaded && this.#fail()),
  });
  readonly qualities = new LiveQualities(() => this.#hls);
  readonly #urls = new PlaylistUrls();
  readonly #native: NativeTimeline;
  readonly #endDetector = new EndDetector();
  #state: State = { name: 'stopped' };
  #watchTimer = 0;
  #paceTimer = 0;
  #isStalled = false;
  /** False after the viewer paused or went back. */
  #followsLive = true;
  #lateSeconds = 0;
  #rate = 1;

  constructor(
    video: HTMLVideoElement,
    { clock, settings, signal }: LiveMediaOptions,
    handlers: LiveMediaHandlers,
  ) {
    this.#video = video;
    this.#native = new NativeTimeline(video);
    this.#clock = clock;
    this.audioTracks = new AudioTracks(settings, () => handlers.onChange());
    this.#handlers = handlers;
    const listen = (type: keyof HTMLMediaElementEventMap, listener: () => void) =>
      video.addEventListener(type, listener, { signal });
    listen('ended', () => {
      if (this.isLoaded) this.#handlers.onEnded();
    });
    listen('pause', () => {
      if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) this.#followsLive = false;
    });
    listen('waiting', () => this.#handleWaiting());
    listen('loadeddata', () => {
      this.#latency.started(performance.now());
      this.#pace();
    });
    listen('seeking', () => this.#latency.restart());
    listen('error', () => {
      if (this.#state.name === 'native') this.#retryNative(this.#state);
    });
  }

  get isLoaded(): boolean {
    return this.#state.name !== 'stopped';
  }

  get #hls(): Hls | undefined {
    return this.#state.name === 'hls' ? this.#state.hls : undefined;
  }

  /** The media may come from another server than the page, and from yet another one later. */
  get hasOtherServers(): boolean {
    return this.#servers.hasOthers;
  }

  /** Tries the URLs in turn until one exists, beginning with the last that did. */
  load(urls: readonly string[]): void {
    this.stop();
    this.#urls.use(urls);
    this.#followsLive = true;
    this.#lateSeconds = 0;
    this.#rate = 1;
    this.#stallWatch.reset();
    this.#servers.reset();
    this.#endDetector.reset();
    this.#latency.restart();
    this.#watchTimer = setInterval(() => this.#watch(), secondMs);
    this.#paceTimer = setInterval(() => this.#pace(), paceIntervalMs);
    if (playableWith(this.#video) === 'native') {
      this.#state = { name: 'native', retryTimer: 0 };
      this.#video.src = this.#urls.current;
    } else this.#loadWithHls();
  }

  stop(): void {
    clearInterval(this.#watchTimer);
    clearInterval(this.#paceTimer);
    this.#setStalled(false);
    if (!this.isLoaded) return;
    this.#unload({ name: 'stopped' });
    this.#video.removeAttribute('src');
    this.#video.load();
  }

  #unload(next: State): void {
    const state = this.#state;
    this.#state = next;
    if (state.name !== 'stopped') clearTimeout(state.retryTimer);
    if (state.name === 'hls') state.hls.destroy();
  }

  /** Falls back to the distance from the playlist's end if there are no dates. */
  latencySeconds(): number | undefined {
    if (this.#video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || !this.isLoaded) return undefined;
    const shownAt = this.#hls === undefined ? this.#native.date : this.#hls.playingDate;
    if (shownAt !== null) return (this.#clock.nowMs() - shownAt.getTime()) / 1000;
    return this.#hls === undefined ? this.#native.edge - this.#video.currentTime : this.#hls.latency;
  }

  isAtLiveEdge(): boolean {
    if (this.#hls === undefined) return this.#native.edge - this.#video.currentTime < nativeLiveEdgeSeconds;
    const details = this.#hls.latestLevelDetails;
    if (!details) return true;
    // `hls.latency` is as old as the last `timeupdate`.
    const latencySeconds = details.edge + details.age - this.#video.currentTime;
    return latencySeconds <= (this.#hls.targetLatency ?? 0) + liveEdgeSeconds;
  }

  /** False for a viewer who follows the broadcast: the player catches up after a stall. */
  isBehindLive(isPlaying: boolean): boolean {
    const catchesUp = this.#hls !== undefined && this.#followsLive && isPlaying;
    return !catchesUp && !this.isAtLiveEdge();
  }

  dateAt(position: number): Date | undefined {
    const fragments = this.#hls?.latestLevelDetails?.fragments;
    const fragment = fragments?.findLast(({ start }) => start <= position) ?? fragments?.[0];
    const dateMs = fragment?.programDateTime ?? this.#native.startMs;
    return dateMs === undefined ? undefined : new Date(dateMs + (position - (fragment?.start ?? 0)) * 1000);
  }

  /** Undefined where the browser plays the playlist itself. */
  storyboardRange(): StoryboardRange | undefined {
    const details = this.#hls?.latestLevelDetails;
    return details ? publishedRange(details) : undefined;
  }

  get frameRate(): number {
    return this.#hls?.levels[this.#hls.currentLevel]?.frameRate || defaultFrameRate;
  }

  /** Chosen by the viewer. The element's own also keeps the distance to the live edge. */
  get rate(): number {
    return this.#rate;
  }

  /** Changes the rate; nothing is faster than the broadcast at the live edge. */
  stepRate(steps: 1 | -1): number {
    const rate = nextRate(this.#rate, steps);
    this.#setRate(rate > 1 && this.isAtLiveEdge() ? 1 : rate);
    return this.#rate;
  }

  get isSourceStalled(): boolean {
    return this.#isStalled;
  }

  goToLive(): void {
    this.#setRate(1);
    this.#followsLive = true;
    this.#lateSeconds = 0;
    const position = this.#newestPosition();
    if (position > this.#video.currentTime) this.#video.currentTime = position;
  }

  /** True when {@link goToLive} would gain next to nothing. */
  isAtNewestMedia(): boolean {
    return this.#followsLive && this.#newestPosition() - this.#video.currentTime < minGainSeconds;
  }

  /** 0 while it is unknown. */
  #newestPosition(): number {
    const edge = this.#hls === undefined ? this.#native.edge : this.#hls.liveSyncPosition;
    if (edge === null || !Number.isFinite(edge)) return 0;
    // The playlist continues with gaps while the publisher sends nothing.
    const details = this.#hls?.latestLevelDetails;
    const newest = details ? newestMediaEnd(details) - minAheadSeconds : 0;
    return newest > 0 ? Math.min(edge, newest) : edge;
  }

  rewindRange(): { readonly start: number; readonly end: number } | undefined {
    const details = this.#hls?.latestLevelDetails;
    const oldest = details ? oldestMediaStart(details) : undefined;
    const start = this.#hls === undefined ? this.#native.start : oldest;
    const end = this.#hls === undefined ? this.#native.edge : this.#hls.liveSyncPosition;
    if (start === undefined || end === null || !(end > start)) return undefined;
    return { start, end };
  }

  seekBy(seconds: number): void {
    this.seekTo(this.#video.currentTime + seconds);
  }

  /** 0 is the oldest position, 1 the live edge. */
  seekToFraction(part: number): void {
    const range = this.rewindRange();
    if (range !== undefined) this.seekTo(range.start + part * (range.end - range.start));
  }

  seekTo(position: number): void {
    const range = this.rewindRange();
    if (range === undefined) return;
    this.#followsLive = position >= range.end;
    this.#video.currentTime = Math.max(range.start, Math.min(range.end, position));
  }

  #setRate(rate: number): void {
    this.#rate = rate;
    if (rate < 1) this.#followsLive = false;
    this.#video.playbackRate = rate;
  }

  #loadWithHls(): void {
    const hls = createLiveHls(HlsBuild);
    const state: State = { name: 'hls', hls, retryTimer: 0, startSeconds: undefined };
    this.#state = state;
    this.audioTracks.attach(hls, Hls.Events);
    hls.on(Hls.Events.MANIFEST_LOADED, (_, { audioTracks, captions = [] }) => {
      const isLight = HlsBuild === Hls;
      if (isLight && audioTracks.length + captions.length > 0)
        queueMicrotask(() => void this.#switchToFullBuild(hls));
    });
    hls.on(Hls.Events.LEVEL_UPDATED, (_, { details }) => {
      // The multivariant playlist was loaded before there was audio.
      if (hls === this.#hls && hls.audioTracks.length === 0 && listsAudio(details)) this.#reload();
    });
    hls.on(Hls.Events.ERROR, (_, data) => {
      if (hls !== this.#hls) return;
      if (data.details !== Hls.ErrorDetails.MANIFEST_LOAD_ERROR && data.type === Hls.ErrorTypes.NETWORK_ERROR)
        this.#servers.requestFailed(data.response?.code);
      if (data.fatal) this.#onFatal(state, data);
      // Avoids four more attempts of hls.js, after its own handling of the error.
      else if (isPlaylistRefused(data)) queueMicrotask(() => hls === this.#hls && this.#fail());
    });
    hls.on(Hls.Events.FRAG_LOADED, () => {
      state.startSeconds = 0;
    });
    hls.on(Hls.Events.BUFFER_APPENDED, () => {
      if (hls === this.#hls) this.#pace();
    });
    hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
      if (hls === this.#hls) this.#servers.playlistLoaded(details.url);
    });
    hls.on(Hls.Events.MANIFEST_PARSED, (_, { levels }) => {
      if (hls === this.#hls) this.#servers.levelsFound(levels[0]?.uri, this.#urls.current);
      this.#latency.reserveSeconds = this.qualities.labels.length > 1 ? switchReserveSeconds : 0;
      if (hls === this.#hls) this.qualities.restore();
      this.#handlers.onChange();
    });
    hls.on(Hls.Events.LEVEL_SWITCHED, () => this.#handlers.onChange());
    let kinds: string | undefined;
    hls.on(Hls.Events.BUFFER_CODECS, (_, tracks) => {
      // Separate audio has its own event and always continues.
      if (hls.audioTracks.length > 0) return;
      const found = Object.keys(tracks).sort().join();
      kinds ??= found;
      if (found !== kinds && hls === this.#hls) this.#reload();
    });
    hls.attachMedia(this.#video);
    hls.loadSource(this.#urls.current);
  }

  async #switchToFullBuild(hls: Hls): Promise<void> {
    if (hls !== this.#hls) return;
    const pending: State = { name: 'reloading', retryTimer: 0 };
    this.#unload(pending);
    const isWanted = () => this.#state === pending;
    try {
      HlsBuild = (await import('hls.js/dist/hls.min.mjs')).default;
      if (isWanted()) this.#loadWithHls();
    } catch {
      if (isWanted()) this.#fail();
    }
  }

  /** Media Source cannot add or remove audio or video, so the broadcast is loaded again. */
  #reload(): void {
    if (!this.isLoaded) return;
    const retryTimer = setTimeout(() => this.load(this.#urls.all), tracksChangedDelayMs);
    this.#unload({ name: 'reloading', retryTimer });
  }

  #onFatal(state: Extract<State, { name: 'hls' }>, data: ErrorData): void {
    const { hls } = state;
    if (data.details === Hls.ErrorDetails.MANIFEST_LOAD_ERROR && data.response?.code === 404) {
      this.#handlers.onNotYet();
      const delayMs = this.#urls.next();
      state.retryTimer = setTimeout(() => hls.loadSource(this.#urls.current), delayMs);
      return;
    }
    const isMediaFault = data.type === Hls.ErrorTypes.MEDIA_ERROR || data.type === Hls.ErrorTypes.MUX_ERROR;
    if (isMediaFault && this.#recovery.afterMediaFault(performance.now()) === 'recover-media') {
      hls.recoverMediaError();
      return;
    }
    this.#fail();
  }

  /** The native player does not distinguish a missing playlist from a broken one. */
  #retryNative(state: Extract<State, { name: 'native' }>): void {
    if (this.#video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) {
      this.#fail();
      return;
    }
    this.#handlers.onNotYet();
    this.#urls.next();
    state.retryTimer = setTimeout(() => {
      this.#video.src = this.#urls.current;
      this.#video.load();
    }, secondMs);
  }

  #fail(): void {
    this.stop();
    this.#handlers.onFailed();
  }

  #watch(): void {
    const hls = this.#hls;
    const details = hls?.latestLevelDetails;
    if (hls === undefined || !details || this.#video.paused) {
      this.#stallWatch.reset();
      const isBeforeFirstFrame = this.#video.readyState === HTMLMediaElement.HAVE_NOTHING;
      this.#setStalled(isBeforeFirstFrame && details?.live === true && endsInGap(details));
      this.#servers.tick(hls !== undefined && !details, this.#urls.current);
      // Browsers may wait with the first frame until the page is seen.
      if (isBeforeFirstFrame && !document.hidden) this.#checkStart();
      return;
    }
    if (!details.live) {
      this.#detectEnd(details);
      return;
    }
    const verdict = this.#stallWatch.tick(this.#video.currentTime, newestSequence(details));
    const reason = newestFillerReason(details);
    if (reason === 'stopped') {
      if (this.#isAtMediaEnd(details) || verdict === 'source-silent') this.#handlers.onPublisherStopped();
      return;
    }
    this.#setStalled(verdict === 'source-silent' || reason === 'no-media');
    this.#servers.tick(verdict === 'source-silent' || reason === 'no-media', this.#urls.current);
    if (verdict === 'seek') this.#skipGap(details);
    else if (verdict === 'recover-media') hls.recoverMediaError();
    else if (verdict === 'reload') this.#fail();
    else if (verdict === 'fine') this.#catchUp();
  }

  #checkStart(): void {
    const state = this.#state;
    if (state.name !== 'hls' || state.startSeconds === undefined) return;
    state.startSeconds += 1;
    if (state.startSeconds > maxStartSeconds) this.#reload();
  }

  #handleWaiting(): void {
    const { seeking, played } = this.#video;
    if (this.#hls !== undefined && this.#followsLive && !seeking && played.length > 0) {
      this.#latency.stalled(performance.now());
    }
  }

  /** The viewer's own rate wins. */
  #pace(): void {
    const video = this.#video;
    if (this.#hls === undefined || video.seeking || video.readyState === HTMLMediaElement.HAVE_NOTHING)
      return;
    const nowMs = performance.now();
    const end = bufferEndAt(video);
    if (end !== undefined) this.#latency.buffered(nowMs, end);
    const follows = this.#followsLive && !video.paused && this.#rate === 1;
    const isLive = this.#hls.latestLevelDetails?.live === true;
    const rate = follows && isLive ? this.#latency.rateAt(nowMs, video.currentTime) : this.#rate;
    if (video.playbackRate !== rate) video.playbackRate = rate;
  }

  /** Viewers who follow the broadcast jump to the live edge, others behind the gap. */
  #skipGap(details: LevelDetails): void {
    const start = startBehindGap(details, this.#video.currentTime + minAheadSeconds);
    if (this.#followsLive) this.goToLive();
    else if (start !== undefined) this.#video.currentTime = start;
  }

  #detectEnd(details: LevelDetails): void {
    // The filler segments at the end do not mean that the publisher returned.
    if (!this.#isAtMediaEnd(details)) this.#setStalled(false);
    if (this.#endDetector.tick(this.#video)) this.#handlers.onEnded();
  }

  /** Ignores filler segments and gaps behind the publisher's media. */
  #isAtMediaEnd(details: LevelDetails): boolean {
    return this.#video.currentTime >= publisherMediaEnd(details) - minAheadSeconds;
  }

  /** A higher rate catches up after a short stall, a jump after a long one. */
  #catchUp(): void {
    if (this.isAtLiveEdge()) {
      if (this.#rate > 1) this.#setRate(1);
      this.#followsLive = this.#rate === 1;
      this.#lateSeconds = 0;
      return;
    }
    this.#lateSeconds += 1;
    if (this.#followsLive && this.#lateSeconds >= jumpAfterSeconds) this.goToLive();
  }

  #setStalled(isSilent: boolean): void {
    if (isSilent === this.#isStalled) return;
    this.#isStalled = isSilent;
    this.#handlers.onSourceStalled(isSilent);
  }
}
