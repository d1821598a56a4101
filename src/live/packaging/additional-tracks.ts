import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { readVideoParameters } from '../../media/codecs/frame-sizes.ts';
import type { FrameSize } from '../../media/codecs/parameter-set.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import { messageOf } from '../../shared/errors.ts';
import { isResolutionTooLarge } from '../broadcast/resolution-guard.ts';
import { audioRenditionName } from '../transcode/audio-renditions.ts';
import { DirectPackager } from './direct-packager.ts';
import { readVideoHeader } from './flv-tracks.ts';
import type { AdditionalTag } from './packager.ts';

export interface AdditionalTrack {
  /** Rendition: `audio-1`, `720p`. */
  readonly name: string;
  readonly kind: TrackKind;
  /** Of video. */
  readonly pixels: number;
}

interface AdditionalTracksEvents {
  /** Its first configuration arrived. */
  began(track: AdditionalTrack): void;
  described(track: AdditionalTrack, description: TrackDescription): void;
  /** @param atMs decode time on the broadcast's clock */
  sample(track: AdditionalTrack, sample: Sample, atMs: number): void;
  failed(track: string, reason: string): void;
}

interface PackagedTrack extends AdditionalTrack {
  packager: DirectPackager;
}

/** Of AV1 configurations, before their units. */
const av1RecordBytes = 4;

/** Packages the additional tracks of a publisher, each on its own: the main tracks never wait for them. */
export class AdditionalTracks {
  readonly #events: AdditionalTracksEvents;
  readonly #maxPixels: number;
  readonly #tracks = new Map<string, PackagedTrack>();

  constructor(events: AdditionalTracksEvents, maxPixels: number) {
    this.#events = events;
    this.#maxPixels = maxPixels;
  }

  get all(): readonly AdditionalTrack[] {
    return [...this.#tracks.values()];
  }

  write({ kind, trackId, role, atMs, body }: AdditionalTag): void {
    const id = `${kind} ${trackId}`;
    if (role !== 'config') {
      this.#tracks.get(id)?.packager.write(kind, atMs, body, false);
      return;
    }
    const former = this.#tracks.get(id);
    const track = this.#describe(kind, trackId, body);
    if (track === undefined) return;
    if (former !== undefined && former.name !== track.name) {
      this.#events.failed(id, 'its resolution changed');
      return;
    }
    void former?.packager.finish();
    this.#tracks.set(id, { ...track, packager: this.#startPackager(track) });
    if (former === undefined) this.#events.began(track);
    this.#tracks.get(id)?.packager.write(kind, atMs, body, true);
  }

  finish(): void {
    for (const { packager } of this.#tracks.values()) void packager.finish();
  }

  #describe(kind: TrackKind, trackId: number, config: Buffer): AdditionalTrack | undefined {
    if (kind === 'audio') return { name: audioRenditionName(trackId), kind, pixels: 0 };
    try {
      const size = readSize(config);
      if (size === undefined) throw new Error('its configuration does not tell its size');
      if (isResolutionTooLarge(size, this.#maxPixels)) throw new Error('its resolution is too high');
      const lines = `${Math.min(size.width, size.height)}p`;
      const id = `${kind} ${trackId}`;
      const isTaken = [...this.#tracks].some(([other, { name }]) => other !== id && name === lines);
      return { name: isTaken ? `${lines}-${trackId}` : lines, kind, pixels: size.width * size.height };
    } catch (error) {
      this.#events.failed(`${kind} ${trackId}`, messageOf(error));
      return undefined;
    }
  }

  #startPackager(track: AdditionalTrack): DirectPackager {
    const isVideo = track.kind === 'video';
    return new DirectPackager({
      plan: { hasVideo: isVideo, audio: isVideo ? 'none' : 'copy' },
      events: {
        tracks: ({ audio, video }) => {
          const description = isVideo ? video : audio;
          if (description !== undefined) this.#events.described(track, description);
        },
        sample: (_, sample, atMs) => this.#events.sample(track, sample, atMs),
        drained: () => {},
        dropped: () => {},
        exited: ({ kind, report }) => {
          if (kind === 'failed') this.#events.failed(track.name, report);
        },
      },
    });
  }
}

function readSize(config: Buffer): FrameSize | undefined {
  const { codec, record } = readVideoHeader(config);
  return readVideoParameters(codec, codec === 'av01' ? record.subarray(av1RecordBytes) : record)?.size;
}
