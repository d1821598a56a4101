import { attributeError } from '../../../http/routing/validation.ts';
import type { Clip } from './video.ts';

/** Files and URLs are cut when they are encoded, at any frame. @throws AppError `invalid-attribute` */
export function checkExactClip(clip: Clip | undefined): void {
  if (clip?.precision === 'keyframe') {
    throw attributeError(
      'clip[precision]',
      'Only clips of your videos and live streams can start at a keyframe. Leave this out, or send "frame".',
    );
  }
  if (clip?.lastMs !== undefined) {
    throw attributeError(
      'clip[lastSeconds]',
      'Only clips of your videos and live streams support this. Send a start and an end.',
    );
  }
}
