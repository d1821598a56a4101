import { writeFragment } from '../../media/cmaf/fragment-writer.ts';
import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { flvHeader, flvTagEnvelope } from '../../media/flv/flv-tag.ts';

export interface EncodedAudioFrame {
  /** On the broadcast's clock. */
  readonly atMs: number;
  readonly durationTicks: number;
  /** A tag body for FLV, else the sample. */
  readonly data: Buffer;
}

/** Writes audio frames so that every ffmpeg reads them. */
export interface AudioInput {
  readonly format: 'flv' | 'mp4';
  readonly header: Buffer;
  /** @param offsetMs of the times that ffmpeg gets */
  frame(frame: EncodedAudioFrame, offsetMs: number): readonly Buffer[];
}

/** For codecs that FLV has had from its beginning. */
export const flvAudioInput: AudioInput = {
  format: 'flv',
  header: flvHeader(true, false),
  frame({ atMs, data }, offsetMs) {
    const [head, tail] = flvTagEnvelope('audio', Math.max(0, Math.round(atMs + offsetMs)), data.length);
    return [head, data, tail];
  },
};

/** For all other codecs; times are exact. */
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
