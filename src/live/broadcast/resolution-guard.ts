import {
  readFrameSizes,
  readVideoConfig,
  type VideoSampleEntryType,
} from '../../media/codecs/frame-sizes.ts';
import type { FrameSize } from '../../media/codecs/parameter-set.ts';
import { type TagDescription, videoHeaderBytes } from '../../media/flv/flv-tag.ts';

const sizedCodecs: Readonly<Record<string, VideoSampleEntryType>> = {
  'H.264': 'avc1',
  HEVC: 'hvc1',
  AV1: 'av01',
};
/** Video is coded in whole blocks, of which up to this many lines and columns are cropped. */
const maxCroppedLines = 15;

export function isResolutionTooLarge({ width, height }: FrameSize, maxPixels: number): boolean {
  return (width - maxCroppedLines) * (height - maxCroppedLines) > maxPixels;
}

export function resolutionTooLargeText({ width, height }: FrameSize, maxPixels: number): string {
  return `The resolution ${width}x${height} is too high: this server accepts up to ${maxPixels} pixels. Choose a lower output resolution in the encoder.`;
}

/** Detects oversized video in decoder configurations and in-band parameter sets, before anything decodes it. */
export class ResolutionGuard {
  readonly #maxPixels: number;
  #lengthBytes = 4;

  constructor(maxPixels: number) {
    this.#maxPixels = maxPixels;
  }

  find({ codec, role }: TagDescription, body: Buffer): FrameSize | undefined {
    const sized = sizedCodecs[codec.name];
    if (sized === undefined || role === 'other') return undefined;
    if (role === 'config') {
      const { lengthBytes, sizes } = readVideoConfig(sized, body.subarray(5));
      this.#lengthBytes = lengthBytes;
      return this.#tooLarge(sizes);
    }
    return this.#tooLarge(readFrameSizes(sized, body, this.#lengthBytes, videoHeaderBytes(body)));
  }

  #tooLarge(sizes: readonly FrameSize[]): FrameSize | undefined {
    return sizes.find(size => isResolutionTooLarge(size, this.#maxPixels));
  }
}
