import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { readRecordParameters } from '../../media/codecs/frame-sizes.ts';
import type { FrameSize } from '../../media/codecs/parameter-set.ts';
import type { CodecConfig, TrackKind } from '../../media/samples/media-sample.ts';
import { messageOf } from '../../shared/errors.ts';
import { isResolutionTooLarge } from '../broadcast/resolution-guard.ts';
import { audioRenditionName } from '../transcode/audio-renditions.ts';
import type { AdditionalSample, AudioTreatment, Packager, PackagerEvents, PackagerPlan } from './packager.ts';
import { readVideoHeader } from './track-format.ts';

export interface AdditionalTrack {
  /** Rendition: `audio-1`, `720p`. */
  readonly name: string;
  readonly kind: TrackKind;
  readonly trackId: number;
  /** Pixels of video. */
  readonly pixels: number;
}

interface AdditionalTracksEvents {
  /** Called when its first configuration arrived. */
  began(track: AdditionalTrack): void;
  /** @param original as the publisher sends it; undefined when only its conversion is known */
  described(
    track: AdditionalTrack,
    description: TrackDescription,
    original: TrackDescription | undefined,
  ): void;
  /** @param atMs decode time on the broadcast's clock */
  sample(track: AdditionalTrack, sample: Sample, atMs: number): void;
  /** @param reason a sentence */
  failed(kind: TrackKind, trackId: number, reason: string): void;
}

export type StartTrackPackager = (plan: PackagerPlan, events: PackagerEvents) => Packager;

interface AdditionalTracksOptions {
  readonly events: AdditionalTracksEvents;
  readonly startPackager: StartTrackPackager;
  readonly maxPixels: number;
}

interface PackagedTrack extends AdditionalTrack {
  packager: Packager;
}

/** Packages the additional tracks of a publisher, each on its own: the main tracks never wait for them. */
export class AdditionalTracks {
  readonly #options: AdditionalTracksOptions;
  readonly #tracks = new Map<string, PackagedTrack>();

  constructor(options: AdditionalTracksOptions) {
    this.#options = options;
  }

  get all(): readonly AdditionalTrack[] {
    return [...this.#tracks.values()];
  }

  write({ media, treatment, atMs }: AdditionalSample): void {
    const { events } = this.#options;
    const { kind, trackId } = media;
    const id = `${kind} ${trackId}`;
    if (media.type === 'sample') {
      this.#tracks.get(id)?.packager.write(media, atMs);
      return;
    }
    const former = this.#tracks.get(id);
    const track = this.#describe(media);
    if (track === undefined) return;
    if (former !== undefined && former.name !== track.name) {
      events.failed(kind, trackId, 'Its resolution changed.');
      return;
    }
    void former?.packager.finish();
    this.#tracks.set(id, { ...track, packager: this.#startPackager(track, treatment) });
    if (former === undefined) events.began(track);
    this.#tracks.get(id)?.packager.write(media, atMs);
  }

  async finish(): Promise<void> {
    await Promise.all([...this.#tracks.values()].map(({ packager }) => packager.finish()));
  }

  async kill(): Promise<void> {
    await Promise.all([...this.#tracks.values()].map(({ packager }) => packager.kill()));
  }

  #describe(config: CodecConfig): AdditionalTrack | undefined {
    const { kind, trackId } = config;
    if (kind === 'audio') return { name: audioRenditionName(trackId), kind, trackId, pixels: 0 };
    try {
      const size = readSize(config);
      if (size === undefined) throw new Error('Its codec configuration has no resolution.');
      if (isResolutionTooLarge(size, this.#options.maxPixels)) throw new Error('Its resolution is too high.');
      const lines = `${Math.min(size.width, size.height)}p`;
      const id = `${kind} ${trackId}`;
      const isTaken = [...this.#tracks].some(([other, { name }]) => other !== id && name === lines);
      const name = isTaken ? `${lines}-${trackId}` : lines;
      return { name, kind, trackId, pixels: size.width * size.height };
    } catch (error) {
      this.#options.events.failed(kind, trackId, messageOf(error));
      return undefined;
    }
  }

  #startPackager(track: AdditionalTrack, treatment: AudioTreatment): Packager {
    const { events, startPackager } = this.#options;
    const { kind, trackId } = track;
    const isVideo = kind === 'video';
    return startPackager(
      { hasVideo: isVideo, audio: isVideo ? 'none' : treatment },
      {
        tracks: ({ audio, video, originalAudio, isAudioEncoded }) => {
          const description = isVideo ? video : audio;
          const original = isAudioEncoded ? originalAudio : description;
          if (description !== undefined) events.described(track, description, original);
        },
        sample: (_, sample, atMs) => events.sample(track, sample, atMs),
        drained: () => {},
        dropped: () => {},
        exited: exit => {
          if (exit.kind === 'failed')
            events.failed(kind, trackId, `The track cannot be packaged: ${exit.report}.`);
        },
      },
    );
  }
}

function readSize(config: CodecConfig): FrameSize | undefined {
  const { codec, record } = readVideoHeader(config);
  return readRecordParameters(codec, record)?.size;
}
