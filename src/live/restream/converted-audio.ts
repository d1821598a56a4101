import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import { type Codec, codecs, type TrackKind } from '../../media/samples/media-sample.ts';
import { audioRendition, sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { Tracks } from '../packaging/packager.ts';
import { PackagedSamples } from './packaged-samples.ts';
import type { RestreamMedia } from './restream-feed.ts';

/** Codecs that need Enhanced RTMP. */
const replacedCodecs: ReadonlySet<Codec> = new Set([
  codecs.Opus,
  codecs['ac-3'],
  codecs['ec-3'],
  codecs.fLaC,
]);

/** The AAC that viewers get, for destinations, in place of audio that needs Enhanced RTMP: few accept it. */
export class ConvertedAudio {
  readonly #muxer: PackagedSamples;
  #replacesAudio = false;

  constructor(onMedia: (media: RestreamMedia) => void) {
    this.#muxer = new PackagedSamples(onMedia);
  }

  /** Call it with all media of the publisher. @returns true for what is not sent */
  replaces({ media: { kind, codec } }: RestreamMedia): boolean {
    if (kind === 'audio') this.#replacesAudio = replacedCodecs.has(codec);
    return kind === 'audio' && this.#replacesAudio;
  }

  tracks(rendition: string, { audio }: Tracks): void {
    if (audio !== undefined && this.#isSent(rendition)) this.#muxer.begin({ audio });
  }

  sample(rendition: string, kind: TrackKind, sample: Sample, atMs: number): void {
    if (kind === 'audio' && this.#isSent(rendition)) this.#muxer.add(kind, sample, atMs);
  }

  #isSent(rendition: string): boolean {
    return this.#replacesAudio && (rendition === audioRendition || rendition === sourceRendition);
  }
}
