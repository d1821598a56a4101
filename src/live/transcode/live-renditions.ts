import type { CaptionChannel } from '../../media/codecs/closed-captions.ts';
import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import type { Clock } from '../../shared/clock.ts';
import { RenderedText } from '../../shared/text/rendered-text.ts';
import type {
  MediaResponse,
  PlaylistRefusal,
  PlaylistResponse,
  ViewerSignal,
} from '../../shared/viewer-responses.ts';
import { sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { LiveSettings } from '../broadcast/ports.ts';
import { type ClippableMedia, clippableMedia, type DateRange } from '../window/clippable-media.ts';
import type { ListedTrackLabel } from '../window/listed-audio.ts';
import { type AudioInfo, formatLiveMultivariant, type VariantInfo } from '../window/live-multivariant.ts';
import type { LiveWindow } from '../window/live-window.ts';
import type { BroadcastStorage } from '../window/part-store.ts';
import { mainAudioGroup, parseAudioRendition } from './audio-renditions.ts';
import type { LadderConfig } from './ladder-config.ts';
import { LiveRendition, renditionReports } from './live-rendition.ts';

export interface LiveRenditionsOptions {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly targetDurationSeconds: number;
  /** See {@link LiveWindow}. */
  readonly learnsTargetDuration?: boolean;
  /** See {@link LiveWindow}. */
  readonly continuesAt?: number | undefined;
  readonly settings: Pick<LiveSettings, 'windowMs' | 'windowBytes'>;
  /** Undefined for passthrough. */
  readonly ladder?: LadderConfig | undefined;
  /** Labels by track; more important than what the encoder says. */
  readonly audioLabels?: readonly ListedTrackLabel[] | undefined;
  /** Undefined keeps everything in memory. */
  readonly storage?: BroadcastStorage | undefined;
  readonly clock: Clock;
}

export interface CurrentPackaging {
  /** Lowest first. Those with a maximum bit rate are encoded here. */
  readonly renditions: readonly {
    readonly name: string;
    readonly bitsPerSecond?: number;
    readonly frameSeconds?: number | undefined;
  }[];
  readonly hasDemuxedAudio: boolean;
  readonly frameSeconds: number | undefined;
}

interface LiveMediaState {
  packaging(): CurrentPackaging | undefined;
  declared(): DeclaredMedia | undefined;
}

/** Wait of the multivariant playlist for renditions after the source. */
const maxRenditionDelayMs = 3000;

export class LiveRenditions {
  readonly source: LiveRendition;
  readonly #options: LiveRenditionsOptions;
  readonly #media: LiveMediaState;
  /** The source first. */
  readonly #byName = new Map<string, LiveRendition>();
  readonly #droppedRenditions = new Set<string>();
  readonly #captions = new Set<CaptionChannel>();
  #multivariant: RenderedText | undefined;
  /** Monotonic. */
  #playableAtMs: number | undefined;
  #hasBeenComplete = false;
  #hasMoved = false;

  constructor(options: LiveRenditionsOptions, media: LiveMediaState) {
    this.#options = options;
    this.#media = media;
    this.source = this.#add(sourceRendition);
  }

  get broadcastId(): string {
    return this.#options.broadcastId;
  }

  get videoSize(): { readonly width: number; readonly height: number } | undefined {
    const { width, height } = this.source.tracks.video ?? {};
    return width && height ? { width, height } : undefined;
  }

  get others(): LiveRendition[] {
    return [...this.#byName.values()].filter(rendition => rendition !== this.source);
  }

  get windows(): LiveWindow[] {
    return [...this.#byName.values()].map(({ window }) => window);
  }

  get droppedRenditions(): ReadonlySet<string> {
    return this.#droppedRenditions;
  }

  get isPlayable(): boolean {
    return this.source.window.isPlayable && this.#isComplete();
  }

  getOrCreate(name: string): LiveRendition {
    return this.#byName.get(name) ?? this.#add(name, this.source);
  }

  #add(name: string, beside?: LiveRendition): LiveRendition {
    const { settings, clock, storage } = this.#options;
    const rendition = new LiveRendition(name, {
      targetDurationSeconds: (beside?.window ?? this.#options).targetDurationSeconds,
      learnsTargetDuration: this.#options.learnsTargetDuration ?? false,
      continuesAt: this.#options.continuesAt,
      windowSeconds: settings.windowMs / 1000,
      maxBytes: settings.windowBytes,
      disk:
        storage === undefined
          ? undefined
          : { rewindSeconds: storage.rewindSeconds, store: storage.store(name) },
      clock,
      onChange: () => {
        // The measured bandwidth changes with the segments.
        this.invalidate();
        for (const other of this.#byName.values())
          if (other !== rendition) other.window.otherRenditionsChanged();
      },
      otherRenditions: () => renditionReports(this.#byName.values(), name),
      alignedWith: beside?.window,
    });
    this.#byName.set(name, rendition);
    return rendition;
  }

  /** True when another server continues the broadcast. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  move(): void {
    this.#hasMoved = true;
    for (const window of this.windows) window.leave();
  }

  dropRendition(name: string): void {
    this.#droppedRenditions.add(name);
    this.invalidate();
  }

  captionsFound(channels: readonly CaptionChannel[]): void {
    if (channels.every(channel => this.#captions.has(channel))) return;
    for (const channel of channels) this.#captions.add(channel);
    this.invalidate();
  }

  invalidate(): void {
    this.#multivariant = undefined;
  }

  /** Returns true when everything that viewers can still play is on disk. */
  releaseMemory(): boolean {
    return this.windows.map(window => window.releaseMemory()).every(isAll => isAll);
  }

  partListed(): void {
    this.#playableAtMs ??= this.#options.clock.monotonicMs();
  }

  get rewind(): { readonly sinceMs: number | undefined; readonly maxSeconds: number } {
    const { segments } = this.source.window;
    return { sinceMs: segments.oldestMediaMs, maxSeconds: segments.listSeconds };
  }

  /** Undefined until the broadcast is playable. */
  multivariant(): RenderedText | undefined {
    if (!this.isPlayable) return undefined;
    this.#multivariant ??= new RenderedText(
      formatLiveMultivariant(this.#variants(), this.#audio(), [...this.#captions].toSorted()),
    );
    return this.#multivariant;
  }

  async mediaPlaylist(
    rendition: string,
    query: URLSearchParams,
    signal: ViewerSignal,
  ): Promise<PlaylistResponse | PlaylistRefusal> {
    const found = this.#byName.get(rendition);
    if (found === undefined) return { status: 404, reason: 'This rendition does not exist.' };
    return found.window.requests.mediaPlaylist(query, signal);
  }

  media(
    rendition: string,
    name: string,
    signal: ViewerSignal,
  ): Promise<MediaResponse | undefined> | MediaResponse | undefined {
    return this.#byName.get(rendition)?.window.requests.media(name, signal);
  }

  /** Undefined until the broadcast is playable. */
  clippableMedia(dates?: DateRange): ClippableMedia | undefined {
    if (!this.isPlayable) return undefined;
    const audio = this.#audioRenditions.flatMap(({ name, window }) => {
      const key = parseAudioRendition(name);
      const isMain = key?.groupId === mainAudioGroup && window.isPlayable;
      return isMain ? [{ trackId: key.trackId, segments: window.segments }] : [];
    });
    return clippableMedia(this.source.window.segments, audio, trackId => this.audioLabelOf(trackId), dates);
  }

  /** Every offered rendition is playable or had its time to start: players read the multivariant playlist once. */
  #isComplete(): boolean {
    const { ladder, clock } = this.#options;
    if (this.#hasBeenComplete || (ladder === undefined && this.#byName.size === 1)) return true;
    const audio = this.#audioRenditions.map(({ name }) => name);
    const isPlayable = [...this.#offered(), ...audio].every(
      name => this.#byName.get(name)?.window.isPlayable,
    );
    const isLate =
      clock.monotonicMs() - (this.#playableAtMs ?? Number.POSITIVE_INFINITY) > maxRenditionDelayMs;
    this.#hasBeenComplete = isPlayable || isLate;
    return this.#hasBeenComplete;
  }

  /** Lowest first. */
  #offered(): string[] {
    const renditions = (this.#media.packaging()?.renditions ?? [])
      .map(({ name }) => name)
      .filter(name => name !== sourceRendition);
    return [...renditions.filter(name => !this.#droppedRenditions.has(name)), sourceRendition];
  }

  /** Empty while audio is inside the video. */
  get #audioRenditions(): LiveRendition[] {
    if (this.#media.packaging()?.hasDemuxedAudio !== true) return [];
    return this.others.filter(({ name }) => parseAudioRendition(name) !== undefined);
  }

  /** Lists audio by track, the main one first. */
  #audio(): AudioInfo[] {
    const described = this.#audioRenditions.flatMap((rendition): AudioInfo[] => {
      const key = parseAudioRendition(rendition.name);
      const track = rendition.tracks.audio;
      if (key === undefined || track === undefined || !rendition.window.isPlayable) return [];
      const label = this.audioLabelOf(key.trackId);
      return [{ ...key, uri: this.#uriOf(rendition), track, label, ...rendition.measureBandwidth() }];
    });
    return described.toSorted((one, other) => one.trackId - other.trackId);
  }

  /** Returns the label as chosen, else as the encoder says. @param trackId 0 for the main track */
  audioLabelOf(trackId: number): ListedTrackLabel {
    const declared = this.#media.declared()?.audioTracks?.get(trackId);
    const chosen = this.#options.audioLabels?.[trackId];
    return {
      ...chosen,
      name: chosen?.name ?? declared?.name,
      language: chosen?.language ?? declared?.language,
    };
  }

  #uriOf({ name }: LiveRendition): string {
    return `${this.#options.liveStreamId}/${this.broadcastId}/${name}/index.m3u8`;
  }

  #variants(): VariantInfo[] {
    const packaging = this.#media.packaging();
    return this.#offered().flatMap((name): VariantInfo[] => {
      const rendition = this.#byName.get(name);
      if (rendition === undefined || !rendition.window.isPlayable) return [];
      const own = packaging?.renditions.find(other => other.name === name);
      const maxBitsPerSecond = own?.bitsPerSecond;
      const declared = this.#media.declared();
      return [
        {
          uri: this.#uriOf(rendition),
          tracks: rendition.tracks,
          // The encoder declares the bit rate of its main track.
          declared: own === undefined ? declared : declared && { ...declared, bitsPerSecond: undefined },
          maxBitsPerSecond,
          frameSeconds: own?.frameSeconds ?? packaging?.frameSeconds,
          ...rendition.measureBandwidth(),
        },
      ];
    });
  }
}
