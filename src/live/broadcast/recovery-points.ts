import { classifyAccessUnit } from '../../media/codecs/access-unit.ts';
import { readVideoConfig } from '../../media/codecs/frame-sizes.ts';
import { type CodecConfig, codecs, type MediaSample } from '../../media/samples/media-sample.ts';

/** Finds H.264 recovery points, which encoders mark as keyframes. Players, restreams and recordings cannot start with them. */
export class RecoveryPoints {
  /** Taken from the H.264 configuration. */
  #nalLengthBytes: number | undefined;

  includes(media: MediaSample | CodecConfig): media is MediaSample {
    if (media.codec !== codecs.avc1) return false;
    if (media.type === 'config') this.#nalLengthBytes = readVideoConfig('avc1', media.data).lengthBytes;
    if (media.type === 'config' || !media.isKeyframe || this.#nalLengthBytes === undefined) return false;
    return classifyAccessUnit('avc1', media.data, this.#nalLengthBytes) === 'recovery';
  }
}
