import type { FlvTag, TagDescription } from '../../media/flv/flv-tag.ts';
import type { AdditionalTag, PackagedMedia } from '../packaging/packager.ts';
import { type BroadcastCapabilities, judgeAudioCodec, judgeVideoCodec } from './codec-policy.ts';
import type { Timeline } from './timeline.ts';

interface AdditionalTagsOptions {
  readonly timeline: Timeline;
  readonly codecCapabilities: BroadcastCapabilities;
  /** Called once for a track that viewers do not get. */
  leftOut(track: string, reason: string): void;
}

/** Beside the main track. */
const maxTracksPerKind = 7;
const maxHeldTags = 2000;
const maxHeldBytes = 16 * 1024 * 1024;

/**
 * The tags of a publisher's additional tracks. They follow the clock of the main tracks, and never refuse a publisher
 * or restart its packager.
 */
export class AdditionalTags {
  readonly #options: AdditionalTagsOptions;
  readonly #configs = new Map<string, AdditionalTag>();
  readonly #leftOut = new Set<string>();
  #receiver: PackagedMedia['additional'] | undefined;
  #held: AdditionalTag[] = [];
  #heldBytes = 0;

  constructor(options: AdditionalTagsOptions) {
    this.#options = options;
  }

  take(tag: FlvTag, trackId: number, described: TagDescription): void {
    const { kind, body, timestampMs } = tag;
    const { role } = described;
    if (kind === 'script' || role === 'other') return;
    const track = `${kind} ${trackId}`;
    if (this.#leftOut.has(track)) return;
    const problem = this.#problemOf(kind, described);
    if (problem !== undefined) {
      this.#leaveOut(track, problem);
      return;
    }
    const config = this.#configs.get(track);
    if (role === 'config') {
      if (config?.body.equals(body)) return;
      const count = [...this.#configs.values()].filter(other => other.kind === kind).length;
      if (config === undefined && count >= maxTracksPerKind) {
        this.#leaveOut(track, `there are more than ${maxTracksPerKind} additional ones`);
        return;
      }
      const changed = { kind, trackId, role, atMs: this.#options.timeline.endMs, body };
      this.#configs.set(track, changed);
      this.#receiver?.(changed);
      return;
    }
    if (config === undefined) return;
    const atMs = this.#options.timeline.placeAdditional(track, timestampMs);
    if (atMs !== undefined) this.#handOver({ kind, trackId, role, atMs, body });
  }

  /** A packager starts. It gets the configurations, and the frames from there on with {@link release}. */
  begin(receiver: PackagedMedia['additional']): void {
    this.#receiver = receiver;
    for (const config of this.#configs.values()) receiver(config);
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

  #problemOf(kind: 'audio' | 'video', { codec }: TagDescription): string | undefined {
    // They are never converted.
    const { packager } = this.#options.codecCapabilities;
    const verdict =
      kind === 'video'
        ? judgeVideoCodec(codec, {
            ...this.#options.codecCapabilities,
            ...{ packager: 'direct', isVideoTranscoded: false },
          })
        : judgeAudioCodec(codec, { packager: packager === 'ffmpeg' ? 'auto' : packager });
    return verdict.take === 'copy' ? undefined : `${codec.name} is not delivered in an additional track`;
  }

  #leaveOut(track: string, reason: string): void {
    this.#leftOut.add(track);
    this.#options.leftOut(track, reason);
  }
}
