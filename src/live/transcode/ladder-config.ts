import type { Overlay } from '../../ffmpeg/arguments/encode-options.ts';
import { sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { EncoderConfig, EncoderEvents, EncoderRendition, LiveEncoder } from './live-encoder.ts';

/** Size in square pixels. */
interface DisplaySize {
  readonly width: number;
  readonly height: number;
}

export interface LadderConfig {
  /** Encodes smaller renditions beside the source, and demuxes the audio. */
  readonly isLadder: boolean;
  /** Burned into every rendition, so that the source is encoded too. */
  readonly watermark: ((size: DisplaySize) => Overlay) | undefined;
  /** Encodes the source too, because players cannot play its codec. */
  readonly encodesSource?: boolean;
  /** Lowest first, none larger than the source. */
  renditionsFor(size: DisplaySize): readonly EncoderRendition[];
  startEncoder(config: EncoderConfig, events: EncoderEvents): LiveEncoder;
  /** False keeps all renditions on an overloaded machine; used by tests. */
  readonly canDropQualities?: boolean;
}

type EncodedSource = Pick<LadderConfig, 'watermark' | 'encodesSource'>;

const minPixelRatio = 1.2;

export function encodesSource(ladder: EncodedSource | undefined): boolean {
  return ladder?.watermark !== undefined || ladder?.encodesSource === true;
}

/** False for a ladder that encodes only video that players cannot play. */
export function encodesAlways(ladder: LadderConfig | undefined): boolean {
  return ladder?.isLadder === true || encodesSource(ladder);
}

/** Lowest first; includes the source where it is encoded. */
export function planRenditions(
  config: EncodedSource & Pick<LadderConfig, 'isLadder' | 'renditionsFor'>,
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
  if (!encodesSource(config) || top === undefined) return below;
  return [...below, { name: sourceRendition, ...evenSize(source), bitsPerSecond: top.bitsPerSecond }];
}

export function evenSize({ width, height }: DisplaySize): DisplaySize {
  return { width: Math.max(2, Math.floor(width / 2) * 2), height: Math.max(2, Math.floor(height / 2) * 2) };
}
