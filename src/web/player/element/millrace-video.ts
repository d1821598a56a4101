import { CustomVideoElement } from 'custom-media-element';
import { MediaTracksMixin } from 'media-tracks';
import type { StoryboardFrame } from '../live/live-storyboard.ts';
import { PlayerSettings } from '../media/player-settings.ts';
import type { Refusal } from '../media/refusal.ts';
import { type AddressOptions, isEnabled } from '../page-options.ts';
import { reportPlayback } from '../report-playback.ts';
import type { PlayerTheme } from '../theme/player-theme.ts';
import { type VodOptions, vodOptionsOf } from '../vod/vod-options.ts';
import { CueTracks } from './cue-tracks.ts';
import { describeEntry } from './describe-entry.ts';
import { MediaLists, type TracksHost } from './media-lists.ts';
import { eventsBetween, type Snapshot, takeSnapshot } from './media-snapshot.ts';
import { fetchState, loadEngine } from './open-source.ts';
import { type PlayerAddress, parsePlayerAddress } from './player-address.ts';
import {
  framesEvent,
  type PlayerDetails,
  type PlayerEntry,
  type PlayerMedia,
  type PlayerMediaState,
  type PlayerPhase,
} from './player-media.ts';
import type { PlayerSource } from './player-source.ts';

/** Position, latency and the live edge change without an event. */
const refreshMs = 500;
/** Shorter ranges are no rewind. */
const minRewindSeconds = 20;
/** Position and range change together for the seek bar, which reads each of them at events of its own. */
const refreshEvents = [
  'loadedmetadata',
  'resize',
  'emptied',
  'progress',
  'seeking',
  'timeupdate',
  'playing',
] as const;
/** The state of the source, and not that of the element, decides about these. */
const ownEvents: ReadonlySet<string> = new Set(['play', 'pause', 'ended', 'ratechange', 'durationchange']);

const styles = `
:host { all: initial; display: block; position: relative; overflow: hidden; background: #000; line-height: 0; }
:host([hidden]) { display: none; }
video {
  width: 100%;
  height: 100%;
  object-fit: var(--media-object-fit, contain);
  object-position: var(--media-object-position, 50% 50%);
}
`;

let styleSheet: CSSStyleSheet | undefined;

export interface OpenOptions {
  /** Options of the element, which win over those in the address. */
  readonly options: AddressOptions;
  /** The server's answer about the address, where a page has it already. */
  readonly state?: unknown;
  /** Plays even where the options say nothing. */
  readonly plays?: boolean;
}

/** The media that was opened last. Its phase, refusal and reachability apply until there is a source. */
interface Opening {
  readonly url: string;
  readonly options: OpenOptions;
  readonly address: PlayerAddress | undefined;
  /** Ends all of it. */
  readonly ending: AbortController;
  vodOptions?: VodOptions;
  phase: PlayerPhase;
  refusal?: Refusal | undefined;
  isReachable: boolean;
}

const BaseElement = MediaTracksMixin(CustomVideoElement);

/** Custom media element over a `<video>`, with the engines for live streams and videos. */
export class MillraceVideo extends BaseElement {
  readonly #video: HTMLVideoElement;
  readonly #settings = new PlayerSettings();
  readonly #cues: CueTracks;
  readonly #lists: MediaLists;
  #opening: Opening | undefined;
  #source: PlayerSource | undefined;
  #wish = false;
  #isRefreshing = false;
  #snapshot: Snapshot = { wantsToPlay: false };
  #previewedTheme: PlayerTheme | undefined;
  #details: PlayerDetails | undefined;
  #detailsText = '';

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    styleSheet ??= new CSSStyleSheet();
    if (styleSheet.cssRules.length === 0) styleSheet.replaceSync(styles);
    root.adoptedStyleSheets = [styleSheet];
    const video = document.createElement('video');
    video.id = 'video';
    video.setAttribute('part', 'video');
    video.playsInline = true;
    video.preload = 'auto';
    this.#video = video;
    root.append(video, document.createElement('slot'));
    this.#cues = new CueTracks(video);
    this.#lists = new MediaLists(this as unknown as TracksHost, () => this.#source);
    for (const event of refreshEvents) video.addEventListener(event, () => this.#refresh());
  }

  /** Plays what a player page at `url` plays. */
  open(url: string, options: OpenOptions): void {
    this.close();
    const address = parsePlayerAddress(url, document.baseURI);
    const ending = new AbortController();
    const opening: Opening = {
      url,
      options,
      address,
      ending,
      phase: address === undefined ? 'missing' : 'loading',
      isReachable: true,
    };
    this.#opening = opening;
    this.dispatchEvent(new CustomEvent('loadstart'));
    this.#refresh();
    if (address === undefined) return;
    const timer = setInterval(() => this.#refresh(), refreshMs);
    ending.signal.addEventListener('abort', () => clearInterval(timer));
    this.#start(opening, address).catch(() => {
      if (ending.signal.aborted) return;
      opening.phase = 'failed';
      this.#refresh();
    });
  }

  /** Shows a source of the page itself. */
  show(source: PlayerSource): void {
    this.close();
    this.#source = source;
    this.#refresh();
  }

  /** Ends all timers and connections. {@link open} plays again. */
  close(): void {
    this.#opening?.ending.abort();
    this.#source?.end();
    this.#source = undefined;
  }

  /** Asks the server again. */
  override load(): void {
    if (this.#opening === undefined) return;
    const { url, options } = this.#opening;
    const { wantsToPlay } = this;
    // The state that a page brought is old.
    this.open(url, { options: options.options, plays: wantsToPlay });
  }

  async #start(opening: Opening, address: PlayerAddress): Promise<void> {
    const { options: opened, ending } = opening;
    const { signal } = ending;
    const engine = loadEngine(address.kind);
    // A failure is reported after the state is there.
    engine.catch(() => {});
    const options = new Map([...address.options, ...opened.options]);
    const wished = vodOptionsOf(options, address.kind === 'live');
    opening.vodOptions = wished;
    this.#wish = wished.autoplay || opened.plays === true;
    const isElsewhere = new URL(address.server).origin !== location.origin;
    this.#video.crossOrigin = isElsewhere ? 'anonymous' : null;
    const found = await fetchState(address, opened.state, signal, isReachable => {
      opening.isReachable = isReachable;
      this.#refresh();
    });
    if ('refused' in found) {
      opening.phase = found.refused;
      opening.refusal = found.refusal;
      this.#refresh();
      return;
    }
    const createSource = await engine;
    signal.throwIfAborted();
    const source = createSource({
      ...found,
      address,
      video: this.#video,
      options: { ...wished, autoplay: this.#wish },
      settings: this.#settings,
      signal,
      onChange: () => this.#refresh(),
      onFrames: () => this.dispatchEvent(new CustomEvent(framesEvent)),
    });
    this.#source = source;
    reportPlayback(this.#video, {
      mediaId: address.id,
      isLive: address.kind === 'live',
      url: `${address.server}/watch`,
      referrer: isElsewhere ? location.href : document.referrer,
      token: address.token ?? null,
      isAllowed: isEnabled(options, 'analytics', true),
      signal,
    });
    source.start();
    for (const event of ['streamtypechange', 'durationchange']) this.dispatchEvent(new CustomEvent(event));
    this.#refresh();
  }

  get source(): PlayerSource | undefined {
    return this.#source;
  }

  /** The address that plays; undefined for others than those of player pages. */
  get address(): PlayerAddress | undefined {
    return this.#opening?.address;
  }

  get theme(): PlayerTheme | undefined {
    return this.#previewedTheme ?? this.#source?.theme;
  }

  /** Shows a theme instead of the one that the server has. */
  previewTheme(theme: PlayerTheme): void {
    this.#previewedTheme = theme;
    this.#refresh();
  }

  /** Parts of the controls that the address or the theme hides, by the names of their attributes. */
  get hiddenParts(): ReadonlySet<string> {
    const { hideControls, hideTitle, hidePoster } = this.#opening?.vodOptions ?? {};
    const { theme } = this;
    const parts = {
      'hide-controls': hideControls || theme?.enableControls === false,
      'hide-title': hideTitle || theme?.hideTitle,
      'hide-poster': hidePoster,
    };
    return new Set(Object.entries(parts).flatMap(([name, isHidden]) => (isHidden ? [name] : [])));
  }

  get phase(): PlayerPhase {
    return this.#source?.phase ?? this.#opening?.phase ?? 'loading';
  }

  get refusalReason(): string | undefined {
    return (this.#source?.refusal ?? this.#opening?.refusal)?.text;
  }

  get refusalKind(): Refusal['kind'] {
    return (this.#source?.refusal ?? this.#opening?.refusal)?.kind;
  }

  get isReachable(): boolean {
    return this.#source?.isReachable ?? this.#opening?.isReachable ?? true;
  }

  get isSourceStalled(): boolean {
    return this.#source?.isSourceStalled ?? false;
  }

  get details(): PlayerDetails | undefined {
    const described = this.#source?.details;
    if (described === undefined) return undefined;
    const isKnown = this.#video.readyState >= HTMLMediaElement.HAVE_METADATA;
    const { colors = {}, logo } = this.theme ?? {};
    const isAudioOnly = isKnown && this.#video.videoWidth === 0;
    const details: PlayerDetails = { ...described, colors, logo, isAudioOnly };
    const text = JSON.stringify(details);
    // The same object while nothing changes.
    if (text !== this.#detailsText || this.#details === undefined) {
      this.#details = details;
      this.#detailsText = text;
    }
    return this.#details;
  }

  get latency(): PlayerMediaState['latency'] {
    return this.#source?.latency;
  }

  get clips(): PlayerMediaState['clips'] {
    return this.#source?.clips;
  }

  get wantsToPlay(): boolean {
    return this.#source?.playing.wantsToPlay ?? this.#wish;
  }

  get isMutedByAutoplay(): boolean {
    return this.#source?.audio.needsUnmute ?? false;
  }

  get hasBegun(): boolean {
    return this.#source?.hasBegun ?? false;
  }

  get isAtEnd(): boolean {
    return this.#source?.isAtEnd ?? false;
  }

  get isGrowing(): boolean {
    return this.#source?.isGrowing ?? false;
  }

  get availableSeconds(): number {
    return this.#source?.availableSeconds ?? 0;
  }

  get isAtLiveEdge(): boolean {
    return this.#source?.isAtLiveEdge ?? false;
  }

  get activeQuality(): string | undefined {
    return this.#source?.activeQuality;
  }

  get streamType(): PlayerMedia['streamType'] {
    const kind = this.#source?.details.kind ?? this.address?.kind;
    if (kind === undefined) return 'unknown';
    return kind === 'live' ? 'live' : 'on-demand';
  }

  get targetLiveWindow(): number {
    const range = this.#source?.rewindRange;
    return range !== undefined && range.end - range.start >= minRewindSeconds
      ? Number.POSITIVE_INFINITY
      : Number.NaN;
  }

  get liveEdgeStart(): number {
    if (this.streamType !== 'live') return Number.NaN;
    return this.isAtLiveEdge ? 0 : Number.POSITIVE_INFINITY;
  }

  override get paused(): boolean {
    return !this.wantsToPlay;
  }

  override get ended(): boolean {
    return this.isAtEnd || this.phase === 'ended';
  }

  override get duration(): number {
    return this.streamType === 'live'
      ? Number.POSITIVE_INFINITY
      : this.#source?.totalSeconds || this.#video.duration;
  }

  override get seekable(): TimeRanges {
    const range = this.#source?.rewindRange;
    return range === undefined ? this.#video.seekable : singleRange(range);
  }

  override get currentTime(): number {
    return this.#video.currentTime;
  }

  override set currentTime(seconds: number) {
    const source = this.#source;
    const end = source?.rewindRange?.end;
    if (end !== undefined && seconds >= end) source?.goToLive();
    else source?.seekTo(seconds);
  }

  override get muted(): boolean {
    return this.#video.muted;
  }

  override set muted(isMuted: boolean) {
    if (this.#source === undefined) this.#video.muted = isMuted;
    else if (isMuted !== this.#video.muted) this.#source.audio.toggleMuted();
  }

  override get volume(): number {
    return this.#video.volume;
  }

  override set volume(volume: number) {
    if (this.#source === undefined) this.#video.volume = volume;
    else this.#source.audio.setVolume(volume);
  }

  override get playbackRate(): number {
    return this.#source?.rate ?? this.#video.playbackRate;
  }

  override set playbackRate(rate: number) {
    this.#source?.setRate(rate);
    this.#refresh();
  }

  override get loop(): boolean {
    return this.#source?.isLooping ?? false;
  }

  override set loop(isLooping: boolean) {
    if (this.#source !== undefined) this.#source.isLooping = isLooping;
    this.#refresh();
  }

  override async play(): Promise<void> {
    this.#wish = true;
    this.#source?.play();
    this.#refresh();
  }

  override pause(): void {
    this.#wish = false;
    this.#source?.pause();
    this.#refresh();
  }

  goToLive(): void {
    this.#source?.goToLive();
  }

  stepFrame(steps: 1 | -1): void {
    this.#source?.stepFrame(steps);
  }

  seekBy(seconds: number): void {
    this.#source?.seekBy(seconds);
  }

  seekToFraction(part: number): void {
    this.#source?.seekToFraction(part);
  }

  stepRate(steps: 1 | -1): number {
    const rate = this.#source?.stepRate(steps) ?? 1;
    this.#refresh();
    return rate;
  }

  toggleCaptions(): boolean | undefined {
    return this.#source?.captions.toggle();
  }

  chooseCaptions(track: TextTrack | undefined): void {
    this.#source?.captions.choose(track && (track.language || track.label));
  }

  dateAt(seconds: number): Date | undefined {
    return this.#source?.dateAt(seconds);
  }

  /** Loads the frames of the seek bar. */
  prepareStoryboard(): void {
    this.#cues.wantStoryboard();
  }

  describe(url: string): Promise<PlayerEntry | undefined> {
    return describeEntry(url);
  }

  frameAt(seconds: number): StoryboardFrame | undefined {
    return this.#video.videoWidth === 0 ? undefined : this.#source?.storyboard?.frameAt(seconds);
  }

  override handleEvent(event: Event): void {
    if (!ownEvents.has(event.type)) super.handleEvent(event);
  }

  /** Tells what changed, at most once per call. */
  #refresh(): void {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      const source = this.#source;
      if (source !== undefined) this.#cues.update(source.cues);
      this.#lists.update();
      const before = this.#snapshot;
      this.#snapshot = takeSnapshot(this, source);
      for (const type of eventsBetween(before, this.#snapshot)) this.dispatchEvent(new CustomEvent(type));
    } finally {
      this.#isRefreshing = false;
    }
  }
}

function singleRange({ start, end }: { readonly start: number; readonly end: number }): TimeRanges {
  return { length: 1, start: () => start, end: () => end };
}

if (customElements.get('millrace-video') === undefined)
  customElements.define('millrace-video', MillraceVideo);
