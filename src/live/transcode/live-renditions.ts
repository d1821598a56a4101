import type { DeclaredMedia } from '../../media/flv/declared-media.ts';
import type { Clock } from '../../shared/clock.ts';
import { RenderedText } from '../../shared/text/rendered-text.ts';
import type { MediaResponse, PlaylistRefusal, PlaylistResponse } from '../../shared/viewer-responses.ts';
import { audioRendition, sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { LiveSettings } from '../broadcast/ports.ts';
import { formatLiveMultivariant, type VariantInfo } from '../window/live-multivariant.ts';
import type { LiveWindow } from '../window/live-window.ts';
import type { BroadcastRewind } from '../window/rewind-store.ts';
import type { LadderConfig } from './ladder-config.ts';
import { LiveRendition, renditionReports } from './live-rendition.ts';

/** What the renditions of a broadcast are made with. */
export interface LiveRenditionsOptions {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly targetDurationSeconds: number;
  readonly settings: Pick<LiveSettings, 'windowMs' | 'windowBytes'>;
  /** What is encoded of it; nothing unless given. */
  readonly form?: LadderConfig | undefined;
  /** Where media goes when it leaves the memory; nowhere unless given. */
  readonly rewind?: BroadcastRewind | undefined;
  readonly clock: Clock;
}

/** The packaging session whose media is being segmented. */
interface CurrentPackaging {
  /** Rungs that are encoded now, lowest first. */
  readonly rungs: readonly { readonly name: string; readonly bitsPerSecond: number }[];
  readonly hasDemuxedAudio: boolean;
  readonly frameSeconds: number | undefined;
}

/** What the media is like now. */
export interface LiveMediaState {
  packaging(): CurrentPackaging | undefined;
  declared(): DeclaredMedia | undefined;
}

/** A rendition that is not there so long after the source is not waited for. */
const lateRungMs = 3000;

/** All forms in which one broadcast can be played, and the list of them. */
export class LiveRenditions {
  readonly source: LiveRendition;
  readonly #options: LiveRenditionsOptions;
  readonly #facts: LiveMediaState;
  /** By name; the source's is the first. */
  readonly #byName = new Map<string, LiveRendition>();
  readonly #droppedRenditions = new Set<string>();
  #multivariant: RenderedText | undefined;
  /** When the source could first be played; monotonic. */
  #playableAtMs: number | undefined;
  #hasBeenComplete = false;

  constructor(options: LiveRenditionsOptions, facts: LiveMediaState) {
    this.#options = options;
    this.#facts = facts;
    this.source = this.#add(sourceRendition);
  }

  get broadcastId(): string {
    return this.#options.broadcastId;
  }

  /** Size of the source's video in pixels; undefined without video. */
  get pictureSize(): { readonly width: number; readonly height: number } | undefined {
    const { width, height } = this.source.tracks.video ?? {};
    return width && height ? { width, height } : undefined;
  }

  /** All that there are beside the source. */
  get others(): LiveRendition[] {
    return [...this.#byName.values()].filter(rendition => rendition !== this.source);
  }

  get windows(): LiveWindow[] {
    return [...this.#byName.values()].map(({ window }) => window);
  }

  /** Rungs that are made no more. */
  get droppedRenditions(): ReadonlySet<string> {
    return this.#droppedRenditions;
  }

  /** There is something to play, in all that there is to choose among. */
  get isPlayable(): boolean {
    return this.source.window.isPlayable && this.#isComplete();
  }

  /** The rendition of this name, made when there is none. */
  getOrCreate(name: string): LiveRendition {
    return this.#byName.get(name) ?? this.#add(name, this.source);
  }

  #add(name: string, beside?: LiveRendition): LiveRendition {
    const { settings, clock, targetDurationSeconds, rewind } = this.#options;
    const rendition = new LiveRendition(name, {
      targetDurationSeconds,
      windowSeconds: settings.windowMs / 1000,
      maxBytes: settings.windowBytes,
      ...(rewind === undefined ? {} : { rewind: { seconds: rewind.seconds, store: rewind.store(name) } }),
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

  /** A rung is made no more in this broadcast. */
  dropRendition(name: string): void {
    this.#droppedRenditions.add(name);
    this.invalidate();
  }

  /** What can be chosen among, or what is said of it, has changed. */
  invalidate(): void {
    this.#multivariant = undefined;
  }

  /** Frees the memory of what is on disk, after the end. Returns whether that is all that viewers can still play. */
  releaseMemory(): boolean {
    return this.windows.map(window => window.releaseMemory()).every(isAll => isAll);
  }

  /** A part can be fetched. */
  partListed(): void {
    this.#playableAtMs ??= this.#options.clock.monotonicMs();
  }

  // ------------------------------------------------------------------------------------------------ viewers

  /** The multivariant playlist; undefined until there is something to play. */
  multivariant(): RenderedText | undefined {
    if (!this.isPlayable) return undefined;
    this.#multivariant ??= new RenderedText(formatLiveMultivariant(this.#variants()));
    return this.#multivariant;
  }

  /** See {@link WindowRequests.mediaPlaylist}. */
  async mediaPlaylist(
    rendition: string,
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<PlaylistResponse | PlaylistRefusal> {
    const found = this.#byName.get(rendition);
    if (found === undefined) return { status: 404, reason: 'There is no such rendition.' };
    return found.window.requests.mediaPlaylist(query, signal);
  }

  /** See {@link WindowRequests.media}. */
  media(
    rendition: string,
    name: string,
    signal: AbortSignal,
  ): Promise<MediaResponse | undefined> | MediaResponse | undefined {
    return this.#byName.get(rendition)?.window.requests.media(name, signal);
  }

  /** All that is to be chosen among can be played, or has had its time to begin: a player reads the list once. */
  #isComplete(): boolean {
    const { form, clock } = this.#options;
    if (this.#hasBeenComplete || form === undefined) return true;
    const sound = this.#facts.packaging()?.hasDemuxedAudio ? [audioRendition] : [];
    const isThere = [...this.#offered(), ...sound].every(name => this.#byName.get(name)?.window.isPlayable);
    const isLate = clock.monotonicMs() - (this.#playableAtMs ?? Number.POSITIVE_INFINITY) > lateRungMs;
    this.#hasBeenComplete = isThere || isLate;
    return this.#hasBeenComplete;
  }

  /** Renditions of the picture, lowest first. */
  #offered(): string[] {
    const rungs = (this.#facts.packaging()?.rungs ?? [])
      .map(({ name }) => name)
      .filter(name => name !== sourceRendition);
    return [...rungs.filter(name => !this.#droppedRenditions.has(name)), sourceRendition];
  }

  #variants(): VariantInfo[] {
    const { liveStreamId, broadcastId } = this.#options;
    const uriOf = (name: string) => `${liveStreamId}/${broadcastId}/${name}/index.m3u8`;
    const packaging = this.#facts.packaging();
    const bits = new Map(packaging?.rungs.map(({ name, bitsPerSecond }) => [name, bitsPerSecond]));
    const audio = packaging?.hasDemuxedAudio ? this.#byName.get(audioRendition) : undefined;
    const demuxedAudio =
      audio?.tracks.audio === undefined || !audio.window.isPlayable
        ? undefined
        : { uri: uriOf(audio.name), track: audio.tracks.audio, ...audio.measureBandwidth() };
    return this.#offered().flatMap((name): VariantInfo[] => {
      const rendition = this.#byName.get(name);
      if (rendition === undefined || !rendition.window.isPlayable) return [];
      const maxBitsPerSecond = bits.get(name);
      return [
        {
          uri: uriOf(name),
          tracks: rendition.tracks,
          declared: this.#facts.declared(),
          ...(maxBitsPerSecond === undefined ? {} : { maxBitsPerSecond }),
          frameSeconds: packaging?.frameSeconds,
          ...rendition.measureBandwidth(),
          audioRendition: demuxedAudio,
        },
      ];
    });
  }
}
