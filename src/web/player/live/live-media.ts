import Hls, { type ErrorData, type HlsConfig, type LevelDetails } from 'hls.js/dist/hls.light.min.mjs';
import { commonHlsSettings } from '../media/hls-settings.ts';
import { qualityLabel } from '../media/qualities.ts';
import { Recovery, StallDetector } from '../media/recovery.ts';
import { nextRate } from '../ui/player-keys.ts';
import type { ServerClock } from './server-clock.ts';

/** Hears what happens to the media. */
export interface LiveMediaHandlers {
  /** The playlist is not there yet; it is asked for again by itself. */
  onNotYet(): void;
  /** The media is over: the last frame has been shown. */
  onEnded(): void;
  /** The broadcaster stopped, and all that they sent has been shown. The broadcast ends soon unless they start again. */
  onPublisherStopped(): void;
  /** Playback cannot go on from here; `stop` has been called. */
  onFailed(): void;
  /** Whether the broadcaster has stopped sending while the broadcast goes on. */
  onSourceStalled(isSilent: boolean): void;
}

/** The light build, until a list has pictures and sound apart: those need the full one, which is half as large again. */
let HlsBuild: typeof Hls = Hls;

/** Catches up after a stall, slowly enough that nobody hears it. */
const catchUpRate = 1.1;

const hlsConfig: Partial<HlsConfig> = {
  ...commonHlsSettings,
  lowLatencyMode: true,
  maxLiveSyncPlaybackRate: catchUpRate,
  backBufferLength: 20,
  liveDurationInfinity: true,
  // A part is small and the next one is already due: ask again soon.
  fragLoadPolicy: {
    default: {
      maxTimeToFirstByteMs: 8000,
      maxLoadTimeMs: 30_000,
      timeoutRetry: { maxNumRetry: 2, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: 4, retryDelayMs: 250, maxRetryDelayMs: 2000 },
    },
  },
  playlistLoadPolicy: {
    default: {
      maxTimeToFirstByteMs: 15_000,
      maxLoadTimeMs: 20_000,
      timeoutRetry: { maxNumRetry: 2, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: 4, retryDelayMs: 500, maxRetryDelayMs: 4000 },
    },
  },
};

const nativeType = 'application/vnd.apple.mpegurl';
const notYetRetryMs = 150;
const secondMs = 1000;
const defaultFrameRate = 30;
/** Later than its aim by no more than this, the player counts as live. Native players aim at whole segments. */
const liveEdgeSeconds = 2.5;
const nativeLiveEdgeSeconds = 10;
const jumpAfterSeconds = 3;
/** A jump to the newest picture leaves this much to play until more is loaded. */
const minAheadSeconds = 0.3;
/** An ended list of which nothing more is played for this long is over. */
const endAfterSeconds = 2;
/** By then, a player that starts at the newest parts meets none from before a change of tracks. */
const tracksChangedDelayMs = 800;

/** Whether this browser can play live streams at all, and how. Media Source first: Chromium says "maybe" to native HLS, but plays it late. */
export function playableWith(video: HTMLVideoElement): 'hls.js' | 'native' | undefined {
  if (Hls.isSupported()) return 'hls.js';
  return video.canPlayType(nativeType) === '' ? undefined : 'native';
}

/** One live playlist in a video element: loads it, mends what breaks, knows how far behind it is. */
export class LiveMedia {
  readonly #video: HTMLVideoElement;
  readonly #clock: ServerClock;
  readonly #handlers: LiveMediaHandlers;
  readonly #recovery = new Recovery();
  readonly #stallWatch = new StallDetector();
  #hls: Hls | undefined;
  #chosenQuality: string | undefined;
  /** Where the multivariant playlist may be; none while nothing is loaded. */
  #urls: readonly string[] = [];
  /** Which of them is asked for. */
  #urlIndex = 0;
  #watchTimer = 0;
  #retryTimer = 0;
  #isStalled = false;
  /** Whether the viewer means to see what happens now: they have neither paused nor gone back. */
  #followsLive = true;
  #lateSeconds = 0;
  /** The viewer's speed. */
  #rate = 1;
  /** Position at the last look at an ended list, seconds. */
  #lastEndPosition = -1;
  #endStuckSeconds = 0;

  constructor(video: HTMLVideoElement, clock: ServerClock, handlers: LiveMediaHandlers) {
    this.#video = video;
    this.#clock = clock;
    this.#handlers = handlers;
    video.addEventListener('ended', () => {
      if (this.isLoaded) this.#handlers.onEnded();
    });
    video.addEventListener('pause', () => {
      if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) this.#followsLive = false;
    });
    video.addEventListener('error', () => {
      if (this.#hls === undefined && this.isLoaded) this.#retryNative();
    });
  }

  /** Whether a playlist is being loaded or played. */
  get isLoaded(): boolean {
    return this.#urls.length > 0;
  }

  /** Loads the multivariant playlist at one of `urls`: asks in turn until it is there, first where it was the last time. */
  load(urls: readonly string[]): void {
    this.stop();
    this.#urls = urls;
    this.#followsLive = true;
    this.#lateSeconds = 0;
    this.#rate = 1;
    this.#stallWatch.reset();
    this.#endStuckSeconds = 0;
    this.#watchTimer = setInterval(() => this.#watch(), secondMs);
    if (playableWith(this.#video) === 'native') this.#video.src = this.#url;
    else this.#loadWithHls();
  }

  stop(): void {
    clearInterval(this.#watchTimer);
    clearTimeout(this.#retryTimer);
    this.#setStalled(false);
    if (!this.isLoaded) return;
    this.#urls = [];
    this.#hls?.destroy();
    this.#hls = undefined;
    this.#video.removeAttribute('src');
    this.#video.load();
  }

  /**
   * Seconds between the moment a picture was broadcast and now, as the picture is shown. Undefined while nothing is shown.
   * Taken from the playlist's dates; where it has none, the distance to the end of the playlist.
   */
  latencySeconds(): number | undefined {
    if (this.#video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || !this.isLoaded) return undefined;
    const shownAt = this.#hls === undefined ? this.#nativeDate() : this.#hls.playingDate;
    if (shownAt !== null) return (this.#clock.nowMs() - shownAt.getTime()) / 1000;
    return this.#hls === undefined ? this.#nativeEdge() - this.#video.currentTime : this.#hls.latency;
  }

  /** Whether the playhead is about as near to the broadcast as it can be. */
  isAtLiveEdge(): boolean {
    if (this.#hls === undefined) return this.#nativeEdge() - this.#video.currentTime < nativeLiveEdgeSeconds;
    const details = this.#hls.latestLevelDetails;
    if (!details) return true;
    // Not `hls.latency`, which is as old as the last timeupdate event.
    const latencySeconds = details.edge + details.age - this.#video.currentTime;
    return latencySeconds <= (this.#hls.targetLatency ?? 0) + liveEdgeSeconds;
  }

  /**
   * Returns whether the viewer is behind: they paused or went back, and are later than the player's target latency by more than a
   * tolerance. A viewer who follows the broadcast is never behind: the player itself makes up for a stall.
   */
  isBehindLive(isPlaying: boolean): boolean {
    const catchesUp = this.#hls !== undefined && this.#followsLive && isPlaying;
    return !catchesUp && !this.isAtLiveEdge();
  }

  /** When what is at this position was broadcast. Undefined where the playlist has no dates. */
  dateAt(position: number): Date | undefined {
    const fragments = this.#hls?.latestLevelDetails?.fragments;
    const fragment = fragments?.findLast(({ start }) => start <= position) ?? fragments?.[0];
    const dateMs = fragment?.programDateTime ?? this.#nativeStartMs();
    return dateMs === undefined ? undefined : new Date(dateMs + (position - (fragment?.start ?? 0)) * 1000);
  }

  /** Frames of the picture each second, or what is usual where that is unknown. */
  get frameRate(): number {
    return this.#hls?.levels[this.#hls.currentLevel]?.frameRate || defaultFrameRate;
  }

  /** Takes the next faster or slower speed. Gives the speed: at the live edge nothing is faster than the broadcast. */
  stepRate(steps: 1 | -1): number {
    const rate = nextRate(this.#rate, steps);
    this.#setRate(rate > 1 && this.isAtLiveEdge() ? 1 : rate);
    return this.#rate;
  }

  /** Whether the broadcaster has stopped sending while the broadcast goes on. */
  get isSourceStalled(): boolean {
    return this.#isStalled;
  }

  /** What can be chosen among, best first, such as `720p`. None where the browser chooses by itself or there is only sound. */
  get qualities(): string[] {
    return (this.#hls?.levels ?? [])
      .filter(({ height }) => height > 0)
      .toSorted((one, other) => other.height - one.height)
      .map(qualityLabel);
  }

  /** The quality that is shown. */
  get currentQuality(): string | undefined {
    const level = this.#hls?.levels[this.#hls.currentLevel];
    return level && qualityLabel(level);
  }

  /** The quality that the viewer chose; undefined where the network decides. */
  get chosenQuality(): string | undefined {
    return this.#levelOf(this.#chosenQuality) === undefined ? undefined : this.#chosenQuality;
  }

  /** Goes over to a quality with the next media that is loaded. What is loaded already is played: it is a second or two. */
  chooseQuality(label: string | undefined): void {
    this.#chosenQuality = label;
    this.#applyChoice();
  }

  #applyChoice(): void {
    if (this.#hls !== undefined) this.#hls.loadLevel = this.#levelOf(this.#chosenQuality) ?? -1;
  }

  #levelOf(label: string | undefined): number | undefined {
    const level = (this.#hls?.levels ?? []).findIndex(each => qualityLabel(each) === label);
    return level < 0 ? undefined : level;
  }

  /** Jumps to the newest picture that can be played without a stall. */
  goToLive(): void {
    this.#setRate(1);
    this.#followsLive = true;
    this.#lateSeconds = 0;
    const edge = this.#hls === undefined ? this.#nativeEdge() : this.#hls.liveSyncPosition;
    if (edge === null || !Number.isFinite(edge)) return;
    // While the broadcaster sends nothing, the list goes on beyond what can be played.
    const newest = this.#newestMediaEnd() - minAheadSeconds;
    const position = newest > 0 ? Math.min(edge, newest) : edge;
    if (position > this.#video.currentTime) this.#video.currentTime = position;
  }

  /** What can be played now, from the oldest picture to the live edge: positions of the video. Undefined while there is nothing. */
  rewindRange(): { readonly start: number; readonly end: number } | undefined {
    const start = this.#hls === undefined ? this.#nativeStart() : this.#oldestStart();
    const end = this.#hls === undefined ? this.#nativeEdge() : this.#hls.liveSyncPosition;
    if (start === undefined || end === null || !(end > start)) return undefined;
    return { start, end };
  }

  /** Moves by `seconds` within what can be played now. */
  seekBy(seconds: number): void {
    this.seekTo(this.#video.currentTime + seconds);
  }

  /** Moves to a part of what can be played now: 0 is the oldest picture, 1 the live edge. */
  seekToFraction(part: number): void {
    const range = this.rewindRange();
    if (range !== undefined) this.seekTo(range.start + part * (range.end - range.start));
  }

  /** Moves to this position of the video, or as near to it as can be played now. */
  seekTo(position: number): void {
    const range = this.rewindRange();
    if (range === undefined) return;
    this.#followsLive = position >= range.end;
    this.#video.currentTime = Math.max(range.start, Math.min(range.end, position));
  }

  #setRate(rate: number): void {
    this.#rate = rate;
    if (rate < 1) this.#followsLive = false;
    // Whoever catches up by a faster rate would put the viewer's rate back.
    if (this.#hls !== undefined) this.#hls.config.maxLiveSyncPlaybackRate = rate === 1 ? catchUpRate : 1;
    this.#video.playbackRate = rate;
  }

  get #url(): string {
    return this.#urls[this.#urlIndex % this.#urls.length] ?? '';
  }

  #loadWithHls(): void {
    const hls = new HlsBuild(hlsConfig);
    this.#hls = hls;
    hls.on(Hls.Events.MANIFEST_LOADED, (_, { audioTracks }) => {
      if (HlsBuild === Hls && audioTracks.length > 0) queueMicrotask(() => void this.#switchToFullBuild(hls));
    });
    hls.on(Hls.Events.LEVEL_UPDATED, (_, { details }) => {
      // The list of what there is was read before there was any sound.
      if (hls === this.#hls && hls.audioTracks.length === 0 && listsAudio(details)) this.#reload();
    });
    hls.on(Hls.Events.ERROR, (_, data) => {
      if (hls !== this.#hls) return;
      if (data.fatal) this.#onFatal(hls, data);
      // hls.js would ask for it four times more; it is in the middle of its own handling now.
      else if (isPlaylistGone(data)) queueMicrotask(() => hls === this.#hls && this.#fail());
    });
    hls.on(Hls.Events.MANIFEST_PARSED, () => {
      if (hls === this.#hls && this.#chosenQuality !== undefined) this.#applyChoice();
    });
    let kinds: string | undefined;
    hls.on(Hls.Events.BUFFER_CODECS, (_, tracks) => {
      // Sound that is apart has an event of its own, and goes on whatever comes.
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

  /** The broadcast gained or lost sound or picture, which Media Source cannot follow: it is loaded as if it were another one. */
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
      this.#retryTimer = setTimeout(() => hls.loadSource(this.#url), notYetRetryMs);
      return;
    }
    const isMediaFault = data.type === Hls.ErrorTypes.MEDIA_ERROR || data.type === Hls.ErrorTypes.MUX_ERROR;
    if (isMediaFault && this.#recovery.afterMediaFault(performance.now()) === 'recover-media') {
      hls.recoverMediaError();
      return;
    }
    this.#fail();
  }

  /** Without hls.js a playlist that is not there yet and one that broke look alike; the caller knows the stream's state. */
  #retryNative(): void {
    const hadPicture = this.#video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
    if (hadPicture) {
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
      const isBeforeFirstPicture = this.#video.readyState === HTMLMediaElement.HAVE_NOTHING;
      this.#setStalled(isBeforeFirstPicture && details?.live === true && endsInGap(details));
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
    if (verdict === 'seek') this.#skipGap(details);
    else if (verdict === 'recover-media') hls.recoverMediaError();
    else if (verdict === 'reload') this.#fail();
    else if (verdict === 'fine') this.#catchUp();
  }

  /** Who follows the broadcast goes on with what is new; who has gone back, behind what is not there. */
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

  /** A list that ends with gaps ends behind its last picture, where the video element never gets. */
  #detectEnd(details: LevelDetails): void {
    // A broadcaster who did not come back is not live again for the rest of the stills.
    if (!this.#isAtMediaEnd(details)) this.#setStalled(false);
    const { currentTime, readyState } = this.#video;
    const isStuck = currentTime === this.#lastEndPosition && readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
    this.#lastEndPosition = currentTime;
    this.#endStuckSeconds = isStuck ? this.#endStuckSeconds + 1 : 0;
    if (this.#endStuckSeconds >= endAfterSeconds) this.#handlers.onEnded();
  }

  /** Returns whether the playhead has reached the end of the publisher's media. Stills and gaps behind it do not count. */
  #isAtMediaEnd({ fragments }: LevelDetails): boolean {
    const last = fragments.findLast(({ gap, relurl }) => !gap && !/^(still|stopped)-/.test(relurl ?? ''));
    return this.#video.currentTime >= (last?.end ?? 0) - minAheadSeconds;
  }

  /** Where the newest media ends. Gap segments make the list grow while there is nothing to play. 0 before there is a list. */
  #newestMediaEnd(): number {
    const details = this.#hls?.latestLevelDetails;
    const segment = details?.fragments.findLast(fragment => !fragment.gap);
    const part = details?.partList?.findLast(candidate => !candidate.gap);
    return Math.max(segment?.end ?? 0, part?.end ?? 0);
  }

  /** Where the oldest segment begins that will be listed for a while yet. */
  #oldestStart(): number | undefined {
    const details = this.#hls?.latestLevelDetails;
    if (!details) return undefined;
    const { fragments, targetduration } = details;
    const oldest = fragments.find(({ gap }) => !gap);
    if (oldest === undefined) return undefined;
    // Nothing leaves a list that begins with what stands before every broadcast.
    return fragments[0]?.gap ? oldest.start : oldest.start + targetduration;
  }

  /** A faster rate makes up for a short stall; after a long one hls.js would stay late for good. */
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

  /** Safari's date of the picture that is shown. */
  #nativeDate(): Date | null {
    const startMs = this.#nativeStartMs();
    return startMs === undefined ? null : new Date(startMs + this.#video.currentTime * 1000);
  }

  /** Safari's date of position 0. */
  #nativeStartMs(): number | undefined {
    const video = this.#video as HTMLVideoElement & { getStartDate?(): Date };
    const startMs = video.getStartDate?.().getTime();
    return startMs === undefined || Number.isNaN(startMs) ? undefined : startMs;
  }
}

/** The broadcast is there no more: forgotten, deleted, or at another address since its stream was made private or public. */
function isPlaylistGone({ details, response }: ErrorData): boolean {
  const { LEVEL_LOAD_ERROR, AUDIO_TRACK_LOAD_ERROR } = Hls.ErrorDetails;
  return (details === LEVEL_LOAD_ERROR || details === AUDIO_TRACK_LOAD_ERROR) && response?.code === 404;
}

/** A list names all others of its broadcast, by addresses such as `../audio/index.m3u8`. */
function listsAudio({ renditionReports }: LevelDetails): boolean {
  return renditionReports?.some(({ URI }) => URI?.includes('/audio/')) ?? false;
}

/** Grows with every part and segment that is there. Not their times: hls.js moves those while gaps are listed. */
/** Whether the newest of the list is not there to be played. */
function endsInGap(details: LevelDetails): boolean {
  return details.endSN >= newestSequence(details);
}

/** Why nobody publishes, by the name of the segment that ends the list: while somebody does, undefined. Such segments have no parts. */
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
