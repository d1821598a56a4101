import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import { FlvMuxer } from '../../media/flv/flv-muxer.ts';
import type { RestreamTag } from '../../media/flv/flv-tag.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { audioRendition, sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { Tracks } from '../packaging/packager.ts';

const EXTENDED_AUDIO = 9;

/** The AAC that viewers get, for destinations, in place of audio that needs Enhanced RTMP: few accept it. */
export class ConvertedAudio {
  readonly #muxer: FlvMuxer;
  #replacesAudio = false;

  constructor(onTag: (tag: RestreamTag) => void) {
    this.#muxer = new FlvMuxer(onTag);
  }

  /** Call it with every tag of the publisher. @returns true for one that is not sent */
  replaces({ kind, body }: RestreamTag): boolean {
    if (kind === 'audio') this.#replacesAudio = body[0]! >> 4 === EXTENDED_AUDIO;
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
