import { readFrameSizes, readVideoConfig } from '../../media/codecs/frame-sizes.ts';
import type { FrameSize } from '../../media/codecs/parameter-set.ts';
import { type CodecConfig, isVideoFourCc, type MediaSample } from '../../media/samples/media-sample.ts';

/** Video is coded in whole blocks, of which up to this many lines and columns are cropped. */
const maxCroppedLines = 15;
/** Sample entries have 16 bits for each side. ISO/IEC 14496-12:2022, 12.1.3. */
const maxSide = 0xffff;

export function isResolutionTooLarge({ width, height }: FrameSize, maxPixels: number): boolean {
  const isTooLong = Math.max(width, height) > maxSide;
  return isTooLong || (width - maxCroppedLines) * (height - maxCroppedLines) > maxPixels;
}

export function resolutionTooLargeText({ width, height }: FrameSize, maxPixels: number): string {
  const limit = Math.max(width, height) > maxSide ? `${maxSide} pixels on each side` : `${maxPixels} pixels`;
  return `The resolution ${width}x${height} is too high: this server accepts up to ${limit}. Choose a lower output resolution in the encoder.`;
}

/** Detects oversized video in decoder configurations and in-band parameter sets, before anything decodes it. */
export class ResolutionGuard {
  readonly #maxPixels: number;
  #lengthBytes = 4;

  constructor(maxPixels: number) {
    this.#maxPixels = maxPixels;
  }

  find({ type, codec: { fourCc }, data }: MediaSample | CodecConfig): FrameSize | undefined {
    if (!isVideoFourCc(fourCc)) return undefined;
    if (type === 'config') {
      const { lengthBytes, sizes } = readVideoConfig(fourCc, data);
      this.#lengthBytes = lengthBytes;
      return this.#tooLarge(sizes);
    }
    return this.#tooLarge(readFrameSizes(fourCc, data, this.#lengthBytes));
  }

  #tooLarge(sizes: readonly FrameSize[]): FrameSize | undefined {
    return sizes.find(size => isResolutionTooLarge(size, this.#maxPixels));
  }
}
