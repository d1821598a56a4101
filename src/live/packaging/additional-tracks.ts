import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { audioRenditionName } from '../transcode/audio-renditions.ts';
import { DirectPackager } from './direct-packager.ts';
import type { AdditionalTag } from './packager.ts';

export interface AdditionalTracksEvents {
  /** The configuration of a track that is a rendition of its own from now on. */
  began(rendition: string): void;
  track(rendition: string, track: TrackDescription): void;
  /** @param atMs decode time on the broadcast's clock */
  sample(rendition: string, sample: Sample, atMs: number): void;
  failed(rendition: string, report: string): void;
}

/** Packages the additional tracks of a publisher, each on its own: the main tracks never wait for them. */
export class AdditionalTracks {
  readonly #events: AdditionalTracksEvents;
  readonly #packagers = new Map<string, DirectPackager>();

  constructor(events: AdditionalTracksEvents) {
    this.#events = events;
  }

  get renditions(): readonly string[] {
    return [...this.#packagers.keys()];
  }

  write({ kind, trackId, role, atMs, body }: AdditionalTag): void {
    const name = audioRenditionName(trackId);
    if (role !== 'config') {
      this.#packagers.get(name)?.write(kind, atMs, body, false);
      return;
    }
    const former = this.#packagers.get(name);
    const packager = this.#create(name);
    this.#packagers.set(name, packager);
    void former?.finish();
    if (former === undefined) this.#events.began(name);
    packager.write(kind, atMs, body, true);
  }

  finish(): void {
    for (const packager of this.#packagers.values()) void packager.finish();
  }

  #create(name: string): DirectPackager {
    return new DirectPackager({
      plan: { hasVideo: false, audio: 'copy' },
      events: {
        tracks: ({ audio }) => audio !== undefined && this.#events.track(name, audio),
        sample: (_, sample, atMs) => this.#events.sample(name, sample, atMs),
        drained: () => {},
        dropped: () => {},
        exited: ({ kind, report }) => {
          if (kind === 'failed') this.#events.failed(name, report);
        },
      },
    });
  }
}
