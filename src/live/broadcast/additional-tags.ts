import {
  audioHeaderBytes,
  type FlvTag,
  type TagCodec,
  type TagDescription,
} from '../../media/flv/flv-tag.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { AdditionalTag, AudioTreatment, PackagedMedia } from '../packaging/packager.ts';
import { type CodecCapabilities, judgeAudioCodec, judgeVideoCodec } from './codec-policy.ts';
import type { Timeline } from './timeline.ts';

interface AdditionalTagsOptions {
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
  config: AdditionalTag | undefined;
}

/** Beside the main track. */
const maxTracksPerKind = 7;
const maxHeldTags = 2000;
const maxHeldBytes = 16 * 1024 * 1024;
/** The frames of other audio codecs say what they are. */
const codecsWithConfig: ReadonlySet<string> = new Set(['AAC', 'FLAC']);

/**
 * The tags of a publisher's additional tracks. They follow the clock of the main tracks, and never refuse a publisher
 * or restart its packager.
 */
export class AdditionalTags {
  readonly #options: AdditionalTagsOptions;
  readonly #tracks = new Map<string, KnownTrack>();
  readonly #leftOut = new Set<string>();
  #receiver: PackagedMedia['additional'] | undefined;
  #held: AdditionalTag[] = [];
  #heldBytes = 0;

  constructor(options: AdditionalTagsOptions) {
    this.#options = options;
  }

  take(tag: FlvTag, trackId: number, { role, codec }: TagDescription): void {
    const { kind, body, timestampMs } = tag;
    if (kind === 'script' || role === 'other') return;
    const track = this.#admit(kind, trackId, codec);
    if (track === undefined) return;
    if (role === 'config') {
      this.#configure(track, trackId, body);
      return;
    }
    if (track.config === undefined) {
      if (kind === 'video' || codecsWithConfig.has(codec.name)) return;
      this.#configure(track, trackId, body.subarray(0, audioHeaderBytes(body)));
    }
    const atMs = this.#options.timeline.placeAdditional(`${kind} ${trackId}`, timestampMs);
    if (atMs !== undefined) this.#handOver({ kind, trackId, role, treatment: track.treatment, atMs, body });
  }

  /** A packager starts. It gets the configurations, and the frames from there on with {@link release}. */
  begin(receiver: PackagedMedia['additional']): void {
    this.#receiver = receiver;
    for (const { config } of this.#tracks.values()) if (config !== undefined) receiver(config);
  }

  release(startMs: number): void {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    for (const tag of held) if (tag.atMs >= startMs) this.#receiver?.(tag);
  }

  /** Holds tags for the next packager. */
  end(): void {
    this.#receiver = undefined;
    this.#held = [];
    this.#heldBytes = 0;
  }

  #handOver(tag: AdditionalTag): void {
    if (this.#receiver !== undefined) {
      this.#receiver(tag);
      return;
    }
    this.#held.push(tag);
    this.#heldBytes += tag.body.length;
    while (this.#held.length > maxHeldTags || this.#heldBytes > maxHeldBytes) {
      this.#heldBytes -= this.#held.shift()?.body.length ?? 0;
    }
  }

  /** Undefined for a track that is left out. */
  #admit(kind: TrackKind, trackId: number, codec: TagCodec): KnownTrack | undefined {
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
  #judge(kind: TrackKind, codec: TagCodec) {
    const { codecCapabilities } = this.#options;
    const packager = codecCapabilities.packager === 'ffmpeg' ? 'auto' : codecCapabilities.packager;
    return kind === 'video'
      ? judgeVideoCodec(codec, { ...codecCapabilities, packager: 'direct' })
      : judgeAudioCodec(codec, { packager });
  }

  #configure(track: KnownTrack, trackId: number, body: Buffer): void {
    const { kind, treatment, config } = track;
    if (config?.body.equals(body)) return;
    const atMs = this.#options.timeline.endMs;
    const changed = { kind, trackId, role: 'config', treatment, atMs, body } as const;
    track.config = changed;
    this.#receiver?.(changed);
  }
}
