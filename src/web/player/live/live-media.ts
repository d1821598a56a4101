import Hls, { type ErrorData, type LevelDetails } from 'hls.js/dist/hls.light.min.mjs';
import { AudioTracks } from '../media/audio-tracks.ts';
import type { PlayerSettings } from '../media/player-settings.ts';
import { qualityLabel } from '../media/qualities.ts';
import { Recovery, StallDetector } from '../media/recovery.ts';
import { nextRate } from '../ui/player-keys.ts';
import { LatencyControl } from './latency-control.ts';
import { createLiveHls } from './live-hls.ts';
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
}

/** The light build, until a playlist has audio renditions or captions. */
let HlsBuild: typeof Hls = Hls;

const nativeType = 'application/vnd.apple.mpegurl';
const notYetRetryMs = 150;
/** Number of quick retries; later ones come every second, because nobody publishes. */
const maxQuickRetries = 20;
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
/** hls.js steps over holes of this length. */
const maxHoleSeconds = 0.1;
/** An ended playlist that is stuck this long is over. */
const endAfterSeconds = 2;
/**
 * A start is repeated when no frame is shown this long after the newest media was loaded. hls.js 1.7 starts with a whole
 * segment. If that is a still without audio, its video waits for audio, which waits for video behind the discontinuity.
 */
const maxStartSeconds = 4;
/** Delay after which the newest parts have the changed tracks only. */
const tracksChangedDelayMs = 800;

/** Prefers Media Source: Chromium answers "maybe" for native HLS, but plays it late. */
export function playableWith(video: HTMLVideoElement): 'hls.js' | 'native' | undefined {
  if (Hls.isSupported()) return 'hls.js';
  return video.canPlayType(nativeType) === '' ? undefined : 'native';
}

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
  #hls: Hls | undefined;
  #chosenQuality: string | undefined;
  /** Candidates for the URL of the multivariant playlist; empty while nothing is loaded. */
  #urls: readonly string[] = [];
  #urlIndex = 0;
  #watchTimer = 0;
  #paceTimer = 0;
  #retryTimer = 0;
  #retries = 0;
  #isStalled = false;
  /** False after the viewer paused or went back. */
  #followsLive = true;
  #lateSeconds = 0;
  #rate = 1;
  #lastEndPosition = -1;
  #endStuckSeconds = 0;
  /** Time since media was loaded, until the first frame. */
  #startSeconds: number | undefined;

  constructor(
    video: HTMLVideoElement,
    { clock, settings }: { readonly clock: ServerClock; readonly settings: PlayerSettings },
    handlers: LiveMediaHandlers,
  ) {
    this.#video = video;
    this.#clock = clock;
    this.audioTracks = new AudioTracks(settings, () => {});
    this.#handlers = handlers;
    video.addEventListener('ended', () => {
      if (this.isLoaded) this.#handlers.onEnded();
    });
    video.addEventListener('pause', () => {
      if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) this.#followsLive = false;
    });
    video.addEventListener('waiting', () => this.#handleWaiting());
    video.addEventListener('loadeddata', () => {
      this.#latency.started(performance.now());
      this.#pace();
    });
    video.addEventListener('seeking', () => this.#latency.restart());
    video.addEventListener('error', () => {
      if (this.#hls === undefined && this.isLoaded) this.#retryNative();
    });
  }

  get isLoaded(): boolean {
    return this.#urls.length > 0;
  }

  /** The media may come from another server than the page, and from yet another one later. */
  get hasOtherServers(): boolean {
    return this.#servers.hasOthers;
  }

  /** Tries the URLs in turn until one exists, beginning with the last that did. */
  load(urls: readonly string[]): void {
    this.stop();
    this.#urls = urls;
    this.#followsLive = true;
    this.#lateSeconds = 0;
    this.#rate = 1;
    this.#stallWatch.reset();
    this.#servers.reset();
    this.#retries = 0;
    this.#endStuckSeconds = 0;
    this.#startSeconds = undefined;
    this.#latency.restart();
    this.#watchTimer = setInterval(() => this.#watch(), secondMs);
    this.#paceTimer = setInterval(() => this.#pace(), paceIntervalMs);
    if (playableWith(this.#video) === 'native') this.#video.src = this.#url;
    else this.#loadWithHls();
  }

  stop(): void {
    clearInterval(this.#watchTimer);
    clearInterval(this.#paceTimer);
    clearTimeout(this.#retryTimer);
    this.#setStalled(false);
    if (!this.isLoaded) return;
    this.#urls = [];
    this.#hls?.destroy();
    this.#hls = undefined;
    this.#video.removeAttribute('src');
    this.#video.load();
  }

  /** Falls back to the distance from the playlist's end if there are no dates. */
  latencySeconds(): number | undefined {
    if (this.#video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || !this.isLoaded) return undefined;
    const shownAt = this.#hls === undefined ? this.#nativeDate() : this.#hls.playingDate;
    if (shownAt !== null) return (this.#clock.nowMs() - shownAt.getTime()) / 1000;
    return this.#hls === undefined ? this.#nativeEdge() - this.#video.currentTime : this.#hls.latency;
  }

  isAtLiveEdge(): boolean {
    if (this.#hls === undefined) return this.#nativeEdge() - this.#video.currentTime < nativeLiveEdgeSeconds;
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
    const dateMs = fragment?.programDateTime ?? this.#nativeStartMs();
    return dateMs === undefined ? undefined : new Date(dateMs + (position - (fragment?.start ?? 0)) * 1000);
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

  /** Labels such as `720p`, best first; empty for audio only and native playback. */
  get qualities(): string[] {
    const labels = (this.#hls?.levels ?? [])
      .filter(({ height }) => height > 0)
      .toSorted((one, other) => other.height - one.height)
      .map(qualityLabel);
    // Each label is a level once per audio codec.
    return [...new Set(labels)];
  }

  get currentQuality(): string | undefined {
    const level = this.#hls?.levels[this.#hls.currentLevel];
    return level && qualityLabel(level);
  }

  get chosenQuality(): string | undefined {
    return this.#levelOf(this.#chosenQuality) === undefined ? undefined : this.#chosenQuality;
  }

  /** Plays the buffered second or two first. */
  chooseQuality(label: string | undefined): void {
    this.#chosenQuality = label;
    this.#applyChoice();
  }

  #applyChoice(): void {
    if (this.#hls !== undefined) this.#hls.loadLevel = this.#levelOf(this.#chosenQuality) ?? -1;
  }

  #levelOf(label: string | undefined): number | undefined {
    const { levels = [], currentLevel = -1 } = this.#hls ?? {};
    const { codecSet } = levels[currentLevel] ?? {};
    const hasLabel = (each: (typeof levels)[number]) => qualityLabel(each) === label;
    const same = levels.findIndex(each => hasLabel(each) && each.codecSet === codecSet);
    const level = same === -1 ? levels.findIndex(hasLabel) : same;
    return level < 0 ? undefined : level;
  }

  goToLive(): void {
    this.#setRate(1);
    this.#followsLive = true;
    this.#lateSeconds = 0;
    const edge = this.#hls === undefined ? this.#nativeEdge() : this.#hls.liveSyncPosition;
    if (edge === null || !Number.isFinite(edge)) return;
    // The playlist continues with gaps while the publisher sends nothing.
    const newest = this.#newestMediaEnd() - minAheadSeconds;
    const position = newest > 0 ? Math.min(edge, newest) : edge;
    if (position > this.#video.currentTime) this.#video.currentTime = position;
  }

  rewindRange(): { readonly start: number; readonly end: number } | undefined {
    const start = this.#hls === undefined ? this.#nativeStart() : this.#oldestStart();
    const end = this.#hls === undefined ? this.#nativeEdge() : this.#hls.liveSyncPosition;
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

  get #url(): string {
    return this.#urls[this.#urlIndex % this.#urls.length] ?? '';
  }

  #loadWithHls(): void {
    const hls = createLiveHls(HlsBuild);
    this.#hls = hls;
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
      if (data.fatal) this.#onFatal(hls, data);
      // Avoids four more attempts of hls.js, after its own handling of the error.
      else if (isPlaylistRefused(data)) queueMicrotask(() => hls === this.#hls && this.#fail());
    });
    hls.on(Hls.Events.FRAG_LOADED, () => {
      if (hls === this.#hls) this.#startSeconds = 0;
    });
    hls.on(Hls.Events.BUFFER_APPENDED, () => {
      if (hls === this.#hls) this.#pace();
    });
    hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
      if (hls === this.#hls) this.#servers.playlistLoaded(details.url);
    });
    hls.on(Hls.Events.MANIFEST_PARSED, (_, { levels }) => {
      if (hls === this.#hls) this.#servers.levelsFound(levels[0]?.uri);
      this.#latency.reserveSeconds = this.qualities.length > 1 ? switchReserveSeconds : 0;
      if (hls === this.#hls && this.#chosenQuality !== undefined) this.#applyChoice();
    });
    let kinds: string | undefined;
    hls.on(Hls.Events.BUFFER_CODECS, (_, tracks) => {
      // Separate audio has its own event and always continues.
      if (hls.audioTracks.length > 0) return;
      const found = Object.keys(tracks).sort().join();
      kinds ??= found;
      if (found !== kinds && hls === this.#hls) this.#reload();
    });
    hls.attachMedia(this.#video);
    hls.loadSource(this.#url);
  }

  async #switchToFullBuild(hls: Hls): Promise<void> {
    if (hls !== this.#hls) return;
    this.#hls = undefined;
    hls.destroy();
    const isWanted = () => this.isLoaded && this.#hls === undefined;
    try {
      HlsBuild = (await import('hls.js/dist/hls.min.mjs')).default;
      if (isWanted()) this.#loadWithHls();
    } catch {
      if (isWanted()) this.#fail();
    }
  }

  /** Media Source cannot add or remove audio or video, so the broadcast is loaded again. */
  #reload(): void {
    this.#hls?.destroy();
    this.#hls = undefined;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.load(this.#urls), tracksChangedDelayMs);
  }

  #onFatal(hls: Hls, data: ErrorData): void {
    if (data.details === Hls.ErrorDetails.MANIFEST_LOAD_ERROR && data.response?.code === 404) {
      this.#handlers.onNotYet();
      this.#urlIndex += 1;
      this.#retries += 1;
      const delayMs = this.#retries > maxQuickRetries ? secondMs : notYetRetryMs;
      this.#retryTimer = setTimeout(() => hls.loadSource(this.#url), delayMs);
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
  #retryNative(): void {
    const hadVideo = this.#video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
    if (hadVideo) {
      this.#fail();
      return;
    }
    this.#handlers.onNotYet();
    this.#urlIndex += 1;
    this.#retryTimer = setTimeout(() => {
      this.#video.src = this.#url;
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
      this.#servers.tick(hls !== undefined && !details, this.#url);
      // Browsers may wait with the first frame until the page is seen.
      if (isBeforeFirstFrame && !document.hidden) this.#checkStart();
      return;
    }
    if (!details.live) {
      this.#detectEnd(details);
      return;
    }
    const verdict = this.#stallWatch.tick(this.#video.currentTime, newestSequence(details));
    const reason = noPublisherReason(details);
    if (reason === 'stopped') {
      if (this.#isAtMediaEnd(details) || verdict === 'source-silent') this.#handlers.onPublisherStopped();
      return;
    }
    this.#setStalled(verdict === 'source-silent' || reason === 'lost');
    this.#servers.tick(verdict === 'source-silent' || reason === 'lost', this.#url);
    if (verdict === 'seek') this.#skipGap(details);
    else if (verdict === 'recover-media') hls.recoverMediaError();
    else if (verdict === 'reload') this.#fail();
    else if (verdict === 'fine') this.#catchUp();
  }

  #checkStart(): void {
    if (this.#startSeconds === undefined) return;
    this.#startSeconds += 1;
    if (this.#startSeconds > maxStartSeconds) this.#reload();
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
  #skipGap({ fragments }: LevelDetails): void {
    if (this.#followsLive) {
      this.goToLive();
      return;
    }
    const { currentTime } = this.#video;
    const at = fragments.findIndex(({ end }) => end > currentTime + minAheadSeconds);
    if (at === -1 || fragments[at]?.gap !== true) return;
    const next = fragments.find(({ gap }, index) => index > at && !gap);
    if (next !== undefined) this.#video.currentTime = next.start;
  }

  /** Detects the end of a playlist that ends with gaps, which the video element never reaches. */
  #detectEnd(details: LevelDetails): void {
    // The filler segments at the end do not mean that the publisher returned.
    if (!this.#isAtMediaEnd(details)) this.#setStalled(false);
    const { currentTime, readyState } = this.#video;
    const isStuck = currentTime === this.#lastEndPosition && readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
    this.#lastEndPosition = currentTime;
    this.#endStuckSeconds = isStuck ? this.#endStuckSeconds + 1 : 0;
    if (this.#endStuckSeconds >= endAfterSeconds) this.#handlers.onEnded();
  }

  /** Ignores filler segments and gaps behind the publisher's media. */
  #isAtMediaEnd({ fragments }: LevelDetails): boolean {
    const last = fragments.findLast(({ gap, relurl }) => !gap && !/^(still|stopped)-/.test(relurl ?? ''));
    return this.#video.currentTime >= (last?.end ?? 0) - minAheadSeconds;
  }

  /** Ignores gap segments, which extend the playlist without media. */
  #newestMediaEnd(): number {
    const details = this.#hls?.latestLevelDetails;
    const segment = details?.fragments.findLast(fragment => !fragment.gap);
    const part = details?.partList?.findLast(candidate => !candidate.gap);
    return Math.max(segment?.end ?? 0, part?.end ?? 0);
  }

  #oldestStart(): number | undefined {
    const details = this.#hls?.latestLevelDetails;
    if (!details) return undefined;
    const { fragments, targetduration } = details;
    const oldest = fragments.find(({ gap }) => !gap);
    if (oldest === undefined) return undefined;
    // A playlist that begins with a gap keeps all segments.
    return fragments[0]?.gap ? oldest.start : oldest.start + targetduration;
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

  #nativeStart(): number | undefined {
    const { seekable } = this.#video;
    return seekable.length === 0 ? undefined : seekable.start(0);
  }

  #nativeEdge(): number {
    const { seekable } = this.#video;
    return seekable.length === 0 ? 0 : seekable.end(seekable.length - 1);
  }

  #nativeDate(): Date | null {
    const startMs = this.#nativeStartMs();
    return startMs === undefined ? null : new Date(startMs + this.#video.currentTime * 1000);
  }

  #nativeStartMs(): number | undefined {
    const video = this.#video as HTMLVideoElement & { getStartDate?(): Date };
    const startMs = video.getStartDate?.().getTime();
    return startMs === undefined || Number.isNaN(startMs) ? undefined : startMs;
  }
}

/** Undefined while nothing is buffered at the playhead. */
function bufferEndAt({ buffered, currentTime }: HTMLVideoElement): number | undefined {
  for (let index = 0; index < buffered.length; index += 1) {
    if (
      currentTime >= buffered.start(index) - maxHoleSeconds &&
      currentTime <= buffered.end(index) + maxHoleSeconds
    )
      return buffered.end(index);
  }
  return undefined;
}

/** The broadcast was deleted, or its stream became private or public. */
function isPlaylistRefused({ details, response }: ErrorData): boolean {
  const { LEVEL_LOAD_ERROR, AUDIO_TRACK_LOAD_ERROR } = Hls.ErrorDetails;
  return (
    (details === LEVEL_LOAD_ERROR || details === AUDIO_TRACK_LOAD_ERROR) &&
    [403, 404].includes(response?.code ?? 0)
  );
}

/** Playlists link to the other playlists of the broadcast, such as `../audio/index.m3u8`. */
function listsAudio({ renditionReports }: LevelDetails): boolean {
  return renditionReports?.some(({ URI }) => URI?.includes('/audio/')) ?? false;
}

function endsInGap(details: LevelDetails): boolean {
  return details.endSN >= newestSequence(details);
}

/** Reads the reason in the name of the last segment. Such segments have no parts. */
function noPublisherReason({ fragments, partList }: LevelDetails): 'stopped' | 'lost' | undefined {
  const newest = fragments.at(-1);
  if (newest === undefined || (partList?.at(-1)?.fragment.sn ?? 0) > newest.sn) return undefined;
  if (newest.relurl?.startsWith('stopped-')) return 'stopped';
  return newest.relurl?.startsWith('still-') ? 'lost' : undefined;
}

function newestSequence({ fragments, partList }: LevelDetails): number {
  const segment = fragments.findLast(fragment => !fragment.gap);
  const part = partList?.findLast(candidate => !candidate.gap);
  return Math.max((segment?.sn ?? 0) + 1, (part?.fragment.sn ?? 0) + (part?.index ?? 0) / 1000);
}
