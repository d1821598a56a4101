import type { Overlay } from '../../ffmpeg/arguments/encode-options.ts';
import { sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { EncoderConfig, EncoderEvents, EncoderRung, LiveEncoder } from './live-encoder.ts';

/** A picture as it is shown, with square pixels. */
export interface DisplaySize {
  readonly width: number;
  readonly height: number;
}

/** In which renditions a broadcast is delivered. */
export interface LadderConfig {
  /** Smaller pictures are encoded beside the source, and the sound is a rendition of its own. */
  readonly isLadder: boolean;
  /** Burned into every picture, so that the source is encoded too. */
  readonly mark: ((picture: DisplaySize) => Overlay) | undefined;
  /** What a picture can be encoded to, lowest first, none larger than it is. */
  steps(picture: DisplaySize): readonly EncoderRung[];
  startEncoder(order: EncoderConfig, events: EncoderEvents): LiveEncoder;
  /** False keeps all qualities although the machine cannot keep up, for tests. */
  readonly canDropQualities?: boolean;
}

/** A rung that has not so many times fewer pixels than the source is none. */
const minPixelRatio = 1.2;

/**
 * The rungs that are encoded of a picture, lowest first: those below the source, and the source itself where it is marked.
 *
 * @param given up in this broadcast
 */
export function planRungs(
  form: Pick<LadderConfig, 'isLadder' | 'mark' | 'steps'>,
  picture: DisplaySize,
  given: ReadonlySet<string>,
): EncoderRung[] {
  const steps = form.steps(picture);
  const pixels = picture.width * picture.height;
  const below = form.isLadder
    ? steps.filter(({ name, width, height }) => width * height * minPixelRatio <= pixels && !given.has(name))
    : [];
  const top = steps.at(-1);
  if (form.mark === undefined || top === undefined) return below;
  const { bitsPerSecond } = top;
  return [...below, { name: sourceRendition, ...evenSize(picture), bitsPerSecond }];
}

/** Chroma of 4:2:0 has half the lines and columns. */
export function evenSize({ width, height }: DisplaySize): DisplaySize {
  return { width: Math.max(2, Math.floor(width / 2) * 2), height: Math.max(2, Math.floor(height / 2) * 2) };
}
