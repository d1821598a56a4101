import {
  type Codec,
  type CodecConfig,
  type MediaSample,
  type TrackKind,
  timestampMs,
} from '../../media/samples/media-sample.ts';
import type { AdditionalSample, AudioTreatment, PackagedMedia } from '../packaging/packager.ts';
import { type CodecCapabilities, judgeAudioCodec, judgeVideoCodec } from './codec-policy.ts';
import { HeldMedia } from './held-media.ts';
import type { Timeline } from './timeline.ts';

interface AdditionalMediaOptions {
  readonly timeline: Timeline;
  readonly codecCapabilities: CodecCapabilities;
  /** A track begins, or changes its codec. */
  arrived(kind: TrackKind, trackId: number, codec: string): void;
  /** Called once for a track that viewers do not get. */
  leftOut(kind: TrackKind, trackId: number, reason: string): void;
}

interface KnownTrack {
  readonly kind: TrackKind;
  readonly codec: string;
  readonly treatment: AudioTreatment;
  config: AdditionalSample | undefined;
}

/** Maximum tracks of a kind beside the main one. */
const maxTracksPerKind = 7;
/** The frames of other audio codecs say what they are. */
const codecsWithConfig: ReadonlySet<string> = new Set(['AAC', 'FLAC']);

/**
 * The media of a publisher's additional tracks. They follow the clock of the main tracks, and never refuse a publisher
 * or restart its packager.
 */
export class AdditionalMedia {
  readonly #options: AdditionalMediaOptions;
  readonly #tracks = new Map<string, KnownTrack>();
  readonly #leftOut = new Set<string>();
  #receiver: PackagedMedia['additional'] | undefined;
  readonly #held = new HeldMedia<AdditionalSample>(() => {});

  constructor(options: AdditionalMediaOptions) {
    this.#options = options;
  }

  take(media: MediaSample | CodecConfig): void {
    const { kind, trackId, codec } = media;
    const track = this.#admit(kind, trackId, codec);
    if (track === undefined) return;
    if (media.type === 'config') {
      this.#configure(track, media);
      return;
    }
    if (track.config === undefined) {
      if (kind === 'video' || codecsWithConfig.has(codec.name)) return;
      this.#configure(track, { type: 'config', kind, trackId, codec, data: Buffer.alloc(0) });
    }
    const atMs = this.#options.timeline.placeAdditional(`${kind} ${trackId}`, timestampMs(media));
    if (atMs !== undefined) this.#handOver({ media, treatment: track.treatment, atMs });
  }

  /** A packager starts. It gets the configurations, and the frames from there on with {@link release}. */
  begin(receiver: PackagedMedia['additional']): void {
    this.#receiver = receiver;
    for (const { config } of this.#tracks.values()) if (config !== undefined) receiver(config);
  }

  release(startMs: number): void {
    for (const sample of this.#held.take()) if (sample.atMs >= startMs) this.#receiver?.(sample);
  }

  /** Holds media for the next packager. */
  end(): void {
    this.#receiver = undefined;
    this.#held.take();
  }

  #handOver(sample: AdditionalSample): void {
    if (this.#receiver === undefined) this.#held.add(sample);
    else this.#receiver(sample);
  }

  /** Undefined for a track that is left out. */
  #admit(kind: TrackKind, trackId: number, codec: Codec): KnownTrack | undefined {
    const id = `${kind} ${trackId}`;
    const known = this.#tracks.get(id);
    if (known?.codec === codec.name) return known;
    if (this.#leftOut.has(id)) return undefined;
    this.#options.arrived(kind, trackId, codec.name);
    const verdict = this.#judge(kind, codec);
    const others = [...this.#tracks.values()].filter(other => other !== known && other.kind === kind);
    if (verdict.take === 'refuse' || others.length >= maxTracksPerKind) {
      this.#leftOut.add(id);
      this.#tracks.delete(id);
      const reason =
        verdict.take === 'refuse'
          ? verdict.description
          : `There are more than ${maxTracksPerKind} additional ${kind} tracks.`;
      this.#options.leftOut(kind, trackId, reason);
      return undefined;
    }
    const track = { kind, codec: codec.name, treatment: verdict.take, config: undefined };
    this.#tracks.set(id, track);
    return track;
  }

  /** Video is never converted. */
  #judge(kind: TrackKind, codec: Codec) {
    const { codecCapabilities } = this.#options;
    const packager = codecCapabilities.packager === 'ffmpeg' ? 'auto' : codecCapabilities.packager;
    return kind === 'video'
      ? judgeVideoCodec(codec, { ...codecCapabilities, packager: 'direct' })
      : judgeAudioCodec(codec, { packager });
  }

  #configure(track: KnownTrack, media: CodecConfig): void {
    const { treatment, config } = track;
    if (config?.media.data.equals(media.data)) return;
    const changed = { media, treatment, atMs: this.#options.timeline.endMs };
    track.config = changed;
    this.#receiver?.(changed);
  }
}
