import type { Overlay } from '../ffmpeg/encode-arguments.ts';
import { sourceRendition } from './broadcast-follower.ts';
import type { EncoderEvents, EncoderOrder, EncoderRung, LiveEncoder } from './live-encoder.ts';

/** A picture as it is shown, with square pixels. */
export interface ShownPicture {
  readonly width: number;
  readonly height: number;
}

/** In which renditions a broadcast is delivered. */
export interface LadderForm {
  /** Smaller pictures are encoded beside the source, and the sound is a rendition of its own. */
  readonly isLadder: boolean;
  /** Burned into every picture, so that the source is encoded too. */
  readonly mark: ((picture: ShownPicture) => Overlay) | undefined;
  /** What a picture can be encoded to, lowest first, none larger than it is. */
  steps(picture: ShownPicture): readonly EncoderRung[];
  startEncoder(order: EncoderOrder, events: EncoderEvents): LiveEncoder;
  /** False keeps all qualities although the machine cannot keep up, for tests. */
  readonly canDropQualities?: boolean;
}

/** A rung that has not so many times fewer pixels than the source is none. */
const leastGrowth = 1.2;

/**
 * The rungs that are encoded of a picture, lowest first: those below the source, and the source itself where it is marked.
 *
 * @param given up in this broadcast
 */
export function planRungs(
  form: Pick<LadderForm, 'isLadder' | 'mark' | 'steps'>,
  picture: ShownPicture,
  given: ReadonlySet<string>,
): EncoderRung[] {
  const steps = form.steps(picture);
  const pixels = picture.width * picture.height;
  const below = form.isLadder
    ? steps.filter(({ name, width, height }) => width * height * leastGrowth <= pixels && !given.has(name))
    : [];
  const top = steps.at(-1);
  if (form.mark === undefined || top === undefined) return below;
  const { bitsPerSecond } = top;
  return [...below, { name: sourceRendition, ...evenOf(picture), bitsPerSecond }];
}

/** Chroma of 4:2:0 has half the lines and columns. */
export function evenOf({ width, height }: ShownPicture): ShownPicture {
  return { width: Math.max(2, Math.floor(width / 2) * 2), height: Math.max(2, Math.floor(height / 2) * 2) };
}
