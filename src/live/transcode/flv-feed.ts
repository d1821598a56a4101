import { flvHeader, flvTagEnvelope } from '../../media/flv/flv-tag.ts';
import { tagBodyPieces } from '../../media/flv/tag-body.ts';
import type { CodecConfig, MediaSample } from '../../media/samples/media-sample.ts';

/** Live media for an ffmpeg, as FLV: every build reads it from a pipe as it comes. */
export const flvFeed = {
  header: flvHeader,

  /** @param timestampMs decode time, 0..2^32-1 */
  media(media: MediaSample | CodecConfig, timestampMs: number): Buffer[] {
    const body = tagBodyPieces(media);
    const bodyBytes = body.reduce((sum, { length }) => sum + length, 0);
    const [head, tail] = flvTagEnvelope(media.kind, timestampMs, bodyBytes);
    return [head, ...body, tail];
  },
};
