import Hls, { type ErrorData, type HlsConfig, type Level } from 'hls.js/dist/hls.min.mjs';
import { BackOff } from '../../shared/back-off.ts';
import { AudioTracks } from '../media/audio-tracks.ts';
import { commonHlsSettings } from '../media/hls-settings.ts';
import type { PlayerSettings } from '../media/player-settings.ts';
import { compareLevels, qualityLabel } from '../media/qualities.ts';
import { Recovery } from '../media/recovery.ts';
import { addLevels } from './add-levels.ts';

interface VodMediaHandlers {
  onInterrupted(isGone: boolean): void;
  onResumed(): void;
  onUnplayable(): void;
  onChange(): void;
}

/** `id` is valid until the next change. */
interface Quality {
  readonly id: number;
  readonly label: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
}

export const autoQuality = -1;

const pausedBufferSeconds = 6;
const playingBufferSeconds = 30;

const hlsConfig: Partial<HlsConfig> = {
  ...commonHlsSettings,
  lowLatencyMode: false,
  // The seek bar needs a finite duration.
  liveDurationInfinity: false,
  maxBufferLength: pausedBufferSeconds,
  maxMaxBufferLength: 60,
  backBufferLength: 60,
  fragLoadPolicy: {
    default: {
      maxTimeToFirstByteMs: 10_000,
      maxLoadTimeMs: 60_000,
      timeoutRetry: { maxNumRetry: 2, retryDelayMs: 0, maxRetryDelayMs: 0 },
      errorRetry: { maxNumRetry: 3, retryDelayMs: 500, maxRetryDelayMs: 4000 },
    },
  },
};

const nativeType = 'application/vnd.apple.mpegurl';
/** Restarts per minute without playback in between. */
const maxRestarts = 3;
const restartWindowMs = 60_000;

/** Times of segments and keyframes may differ by rounding. */
const keyframeToleranceSeconds = 0.1;

export function vodPlayableWith(video: HTMLVideoElement): 'hls.js' | 'native' | undefined {
  if (Hls.isSupported()) return 'hls.js';
  return video.canPlayType(nativeType) === '' ? undefined : 'native';
}

export interface VodMediaOptions {
  readonly settings: PlayerSettings;
  /** Ends the use of the video element. */
  readonly signal?: AbortSignal;
}

export class VodMedia {
  readonly audioTracks: AudioTracks;
  readonly #video: HTMLVideoElement;
  readonly #handlers: VodMediaHandlers;
  readonly #recovery = new Recovery();
  readonly #retryBackOff = new BackOff(500, 10_000);
  #hls: Hls | undefined;
  #url: string | undefined;
  #retryTimer = 0;
  #isInterrupted = false;
  #needsRestart = false;
  #startSeconds = 0;
  #bufferSeconds = pausedBufferSeconds;
  /** The label of the chosen rendition, which a restart keeps. */
  #chosenLabel: string | undefined;
  #restartsAtMs: number[] = [];
  #playingSegmentStart = 0;

  constructor(video: HTMLVideoElement, { settings, signal }: VodMediaOptions, handlers: VodMediaHandlers) {
    this.#video = video;
    this.#handlers = handlers;
    this.audioTracks = new AudioTracks(settings, () => handlers.onChange());
    const listen = (type: keyof HTMLMediaElementEventMap, listener: () => void) =>
      video.addEventListener(type, listener, { signal });
    listen('error', () => {
      if (this.#hls === undefined && this.isLoaded) this.#interrupt(false, true);
    });
    listen('loadedmetadata', () => {
      if (this.#hls === undefined && this.#startSeconds > 0) video.currentTime = this.#startSeconds;
      this.#resume();
    });
    listen('playing', () => {
      this.#bufferSeconds = playingBufferSeconds;
      if (this.#hls !== undefined) this.#hls.config.maxBufferLength = playingBufferSeconds;
    });
    const onOnline = () => {
      if (this.#isInterrupted) this.retry();
    };
    addEventListener('online', onOnline, { signal });
  }

  get isLoaded(): boolean {
    return this.#url !== undefined;
  }

  load(url: string, startSeconds: number): void {
    this.stop();
    this.#url = url;
    this.#startSeconds = startSeconds;
    if (vodPlayableWith(this.#video) === 'hls.js') this.#loadWithHls(url);
    else this.#video.src = url;
  }

  stop(): void {
    clearTimeout(this.#retryTimer);
    if (this.#url === undefined) return;
    this.#url = undefined;
    this.#needsRestart = false;
    this.#hls?.destroy();
    this.#hls = undefined;
    this.#video.removeAttribute('src');
    this.#video.load();
  }

  restart(): void {
    if (this.#url !== undefined) this.moveTo(this.#url);
  }

  /** Loads the same media from another address, and goes on where it is. */
  moveTo(url: string): void {
    const hasBegun = this.#video.readyState > HTMLMediaElement.HAVE_NOTHING;
    this.load(url, hasBegun ? this.#video.currentTime : this.#startSeconds);
  }

  retry(): void {
    clearTimeout(this.#retryTimer);
    const hls = this.#hls;
    if (hls === undefined || this.#needsRestart || hls.levels.length === 0) {
      this.#needsRestart = false;
      this.restart();
    } else {
      const hasBegun = this.#video.readyState > HTMLMediaElement.HAVE_NOTHING;
      hls.startLoad(hasBegun ? this.#video.currentTime : this.#startSeconds);
    }
  }

  retryLater(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.retry(), this.#retryBackOff.next());
  }

  get isGrowing(): boolean {
    return this.#hls?.latestLevelDetails?.live ?? this.#video.duration === Number.POSITIVE_INFINITY;
  }

  /** 0 while unknown. */
  get availableSeconds(): number {
    const edge = this.#hls?.latestLevelDetails?.edge;
    if (edge !== undefined && edge > 0) return edge;
    const { duration, seekable } = this.#video;
    if (Number.isFinite(duration)) return duration;
    return seekable.length === 0 ? 0 : seekable.end(seekable.length - 1);
  }

  get frameRate(): number {
    const hls = this.#hls;
    const rate = hls?.levels[hls.currentLevel]?.frameRate ?? 0;
    return rate > 0 ? rate : 30;
  }

  get qualities(): Quality[] {
    const { levels = [], currentLevel = -1, loadLevel = -1 } = this.#hls ?? {};
    const { codecSet } = levels[currentLevel] ?? levels[loadLevel] ?? levels[0] ?? {};
    return levels
      .map((level, id) => ({
        id,
        label: qualityLabel(level),
        width: level.width,
        height: level.height,
        bitsPerSecond: level.bitrate,
        // A video may have each quality in several codecs.
        isOther: level.codecSet !== codecSet,
      }))
      .filter(({ height, isOther }) => height > 0 && !isOther)
      .map(({ isOther: _, ...quality }) => quality)
      .reverse();
  }

  get currentQuality(): Quality | undefined {
    const id = this.#hls?.currentLevel ?? -1;
    return this.qualities.find(quality => quality.id === id);
  }

  get chosenQuality(): number {
    if (this.#chosenLabel === undefined) return autoQuality;
    return this.qualities.find(({ label }) => label === this.#chosenLabel)?.id ?? autoQuality;
  }

  chooseQuality(id: number): void {
    const hls = this.#hls;
    if (hls === undefined) return;
    this.#chosenLabel = this.qualities.find(quality => quality.id === id)?.label;
    hls.nextLevel = this.#chosenLabel === undefined ? autoQuality : id;
    if (this.#chosenLabel !== undefined) this.#dropBackBuffer(hls);
    this.#handlers.onChange();
  }

  /** Adds new qualities at once. Other changes wait for `restartIfPending`. */
  checkForNewQualities(): void {
    const hls = this.#hls;
    const url = this.#url;
    if (hls === undefined || url === undefined || hls.levels.length === 0) return;
    const reader = new Hls({ ...hlsConfig, autoStartLoad: false });
    const done = () => reader.destroy();
    reader.on(Hls.Events.ERROR, (_, { fatal }) => {
      if (fatal) done();
    });
    reader.on(Hls.Events.MANIFEST_PARSED, (_, { levels }) => {
      if (hls === this.#hls) this.#addQualities(hls, levels);
      setTimeout(done);
    });
    reader.loadSource(url);
  }

  /** Restarts when that is due. Call it when a short break is acceptable. */
  restartIfPending(): boolean {
    if (!this.#needsRestart || this.#isInterrupted) return false;
    this.restart();
    return true;
  }

  #addQualities(hls: Hls, found: readonly Level[]): void {
    const difference = compareLevels(hls.levels, found);
    const bestBefore = hls.levels.at(-1);
    if (difference === 'different' || (difference === 'added' && !addLevels(hls, found))) {
      this.#needsRestart = true;
    } else if (
      difference === 'added' &&
      this.#chosenLabel === undefined &&
      hls.levels.at(-1) !== bestBefore
    ) {
      // Replaces buffered media, except for the next seconds.
      hls.nextLevel = autoQuality;
    }
    if (difference !== 'same') this.#handlers.onChange();
  }

  /** Drops earlier media, so that going back or looping shows the chosen quality. */
  #dropBackBuffer(hls: Hls): void {
    if (this.#playingSegmentStart > this.#video.currentTime) return;
    hls.trigger(Hls.Events.BUFFER_FLUSHING, {
      startOffset: 0,
      // Ends at the keyframe of the segment: a later end would remove the whole segment.
      endOffset: Math.max(0, this.#playingSegmentStart - keyframeToleranceSeconds),
      type: hls.audioTracks.length > 0 ? 'video' : null,
    });
  }

  #loadWithHls(url: string): void {
    const hls = new Hls({
      ...hlsConfig,
      maxBufferLength: this.#bufferSeconds,
      startPosition: this.#startSeconds,
    });
    this.#hls = hls;
    this.audioTracks.attach(hls, Hls.Events);
    this.#playingSegmentStart = 0;
    hls.on(Hls.Events.ERROR, (_, data) => {
      if (data.fatal && hls === this.#hls) this.#onFatal(hls, data);
    });
    hls.on(Hls.Events.MANIFEST_PARSED, () => {
      const chosen = this.chosenQuality;
      if (chosen !== autoQuality) hls.startLevel = hls.nextLevel = chosen;
      this.#handlers.onChange();
    });
    hls.on(Hls.Events.FRAG_CHANGED, (_, { frag }) => {
      this.#playingSegmentStart = frag.start;
    });
    hls.on(Hls.Events.LEVEL_SWITCHED, () => {
      if (this.#chosenLabel !== undefined) this.#dropBackBuffer(hls);
      this.#handlers.onChange();
    });
    hls.on(Hls.Events.LEVEL_UPDATED, () => this.#handlers.onChange());
    hls.on(Hls.Events.FRAG_BUFFERED, () => this.#resume());
    hls.attachMedia(this.#video);
    hls.loadSource(url);
  }

  #onFatal(hls: Hls, { type, details, response }: ErrorData): void {
    const isMediaFault = type === Hls.ErrorTypes.MEDIA_ERROR || type === Hls.ErrorTypes.MUX_ERROR;
    if (isMediaFault) {
      if (this.#recovery.afterMediaFault(performance.now()) === 'recover-media') hls.recoverMediaError();
      else if (this.#canRestart()) this.restart();
      else {
        this.stop();
        this.#handlers.onUnplayable();
      }
      return;
    }
    // A missing video answers with an empty playlist.
    const isGone = response?.code === 404 || details === Hls.ErrorDetails.MANIFEST_PARSING_ERROR;
    this.#interrupt(isGone, isGone);
  }

  #canRestart(): boolean {
    const nowMs = performance.now();
    this.#restartsAtMs = this.#restartsAtMs.filter(atMs => nowMs - atMs < restartWindowMs);
    this.#restartsAtMs.push(nowMs);
    return this.#restartsAtMs.length <= maxRestarts;
  }

  #interrupt(isGone: boolean, needsRestart: boolean): void {
    this.#isInterrupted = true;
    this.#needsRestart ||= needsRestart;
    this.#handlers.onInterrupted(isGone);
  }

  #resume(): void {
    this.#retryBackOff.reset();
    if (!this.#isInterrupted) return;
    this.#isInterrupted = false;
    this.#handlers.onResumed();
  }
}
