import { tagBody } from '../../media/flv/tag-body.ts';
import { chunkMedia, type MediaChunks, type TrackTimes } from '../../media/rtmp/media-chunks.ts';
import type { MediaSample } from '../../media/samples/media-sample.ts';
import type { MediaFormat } from './restream-format.ts';

export interface RestreamSample {
  readonly media: MediaSample;
  /** A connection's media can begin here. */
  readonly isStart: boolean;
  /** Rising on each track; whole milliseconds. */
  readonly atMs: number;
}

/** The samples of a short time, shared by all destinations. */
export class RestreamBatch {
  readonly format: MediaFormat;
  readonly samples: readonly RestreamSample[];
  readonly hasStart: boolean;
  readonly payloadBytes: number;
  /** Per track, the time of the newest sample, here or before. */
  readonly lastMs: TrackTimes;
  readonly #previousMs: TrackTimes;
  #chunks: MediaChunks | undefined;

  /** @param previousMs `lastMs` of the batch before */
  constructor(format: MediaFormat, samples: readonly RestreamSample[], previousMs: TrackTimes) {
    this.format = format;
    this.samples = samples;
    this.hasStart = samples.some(({ isStart }) => isStart);
    this.payloadBytes = samples.reduce((sum, { media }) => sum + media.data.length, 0);
    this.#previousMs = previousMs;
    const lastMs = { ...previousMs };
    for (const { media, atMs } of samples) lastMs[media.kind] = atMs;
    this.lastMs = lastMs;
  }

  /** One message for each sample, written once for all RTMP destinations. */
  get chunks(): MediaChunks {
    this.#chunks ??= chunkMedia(
      this.samples.map(({ media, atMs }) => ({ kind: media.kind, atMs, body: tagBody(media) })),
      this.#previousMs,
    );
    return this.#chunks;
  }
}
