import { writeFragment } from '../../media/cmaf/fragment-writer.ts';
import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { MediaSample } from '../../media/samples/media-sample.ts';
import { flvFeed } from './flv-feed.ts';

export interface EncodedAudioFrame {
  /** Time on the broadcast's clock. */
  readonly atMs: number;
  readonly durationTicks: number;
  readonly data: Buffer;
  /** The publisher's sample, for FLV. */
  readonly media?: MediaSample;
}

/** Writes audio frames so that every ffmpeg reads them. */
export interface AudioInput {
  readonly format: 'flv' | 'mp4';
  readonly header: Buffer;
  /** @param offsetMs of the times that ffmpeg gets */
  frame(frame: EncodedAudioFrame, offsetMs: number): readonly Buffer[];
}

/** Input for codecs that FLV has had from its beginning. */
export const flvAudioInput: AudioInput = {
  format: 'flv',
  header: flvFeed.header(true, false),
  frame({ atMs, media }, offsetMs) {
    return media === undefined ? [] : flvFeed.media(media, Math.max(0, Math.round(atMs + offsetMs)));
  },
};

/** Returns the input for all other codecs; times are exact. */
export function mp4AudioInput(track: TrackDescription): AudioInput {
  const { timescale } = track;
  const trackId = 1;
  return {
    format: 'mp4',
    header: writeInitSegment([{ ...track, id: trackId }]),
    frame({ atMs, durationTicks, data }, offsetMs) {
      const baseDtsTicks = Math.max(0, Math.round(((atMs + offsetMs) * timescale) / 1000));
      const sample = { durationTicks, compositionOffsetTicks: 0, isSync: true, data };
      return [writeFragment(1, [{ trackId, baseDtsTicks, samples: [sample] }])];
    },
  };
}
