import type { Overlay } from '../../ffmpeg/arguments/encode-options.ts';
import { sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { EncoderConfig, EncoderEvents, EncoderRendition, LiveEncoder } from './live-encoder.ts';

/** Size of a displayed picture, with square pixels. */
interface DisplaySize {
  readonly width: number;
  readonly height: number;
}

/** Renditions in which a broadcast is delivered. */
export interface LadderConfig {
  /** Encodes smaller renditions beside the source, and delivers the audio as a rendition of its own. */
  readonly isLadder: boolean;
  /** Burned into every rendition, so that the source is encoded too. */
  readonly watermark: ((size: DisplaySize) => Overlay) | undefined;
  /** Renditions for a source of this size, lowest first, none larger. */
  renditionsFor(size: DisplaySize): readonly EncoderRendition[];
  startEncoder(config: EncoderConfig, events: EncoderEvents): LiveEncoder;
  /** False keeps all renditions although the machine cannot keep up, for tests. */
  readonly canDropQualities?: boolean;
}

/** The source has at least so many times the pixels of a rendition. */
const minPixelRatio = 1.2;

/** Plans the renditions to encode, lowest first: those below the source, and the source itself where it gets a watermark. */
export function planRenditions(
  config: Pick<LadderConfig, 'isLadder' | 'watermark' | 'renditionsFor'>,
  source: DisplaySize,
  dropped: ReadonlySet<string>,
): EncoderRendition[] {
  const candidates = config.renditionsFor(source);
  const sourcePixels = source.width * source.height;
  const below = config.isLadder
    ? candidates.filter(
        ({ name, width, height }) => width * height * minPixelRatio <= sourcePixels && !dropped.has(name),
      )
    : [];
  const top = candidates.at(-1);
  if (config.watermark === undefined || top === undefined) return below;
  return [...below, { name: sourceRendition, ...evenSize(source), bitsPerSecond: top.bitsPerSecond }];
}

/** Rounds down to even numbers: chroma of 4:2:0 has half the lines and columns. */
export function evenSize({ width, height }: DisplaySize): DisplaySize {
  return { width: Math.max(2, Math.floor(width / 2) * 2), height: Math.max(2, Math.floor(height / 2) * 2) };
}
