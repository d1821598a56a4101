import { classifyAccessUnit } from '../../media/codecs/access-unit.ts';
import { readVideoConfig } from '../../media/codecs/frame-sizes.ts';
import { type CodecConfig, codecs, type MediaSample } from '../../media/samples/media-sample.ts';

/**
 * Finds frames of H.264 that encoders mark as keyframes although they are no IDR, such as recovery points. Players, restreams and
 * recordings cannot start with them.
 */
export class RecoveryPoints {
  /** Taken from the H.264 configuration. */
  #nalLengthBytes: number | undefined;

  includes(media: MediaSample | CodecConfig): media is MediaSample {
    if (media.codec !== codecs.avc1) return false;
    if (media.type === 'config') this.#nalLengthBytes = readVideoConfig('avc1', media.data).lengthBytes;
    if (media.type === 'config' || !media.isKeyframe || this.#nalLengthBytes === undefined) return false;
    // A message that announces a recovery point may be missing, or stand behind others.
    return ['recovery', 'frame'].includes(classifyAccessUnit('avc1', media.data, this.#nalLengthBytes));
  }
}
