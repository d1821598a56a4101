import {
  readFrameSizes,
  readVideoConfig,
  type VideoSampleEntryType,
} from '../../media/codecs/frame-sizes.ts';
import type { FrameSize } from '../../media/codecs/parameter-set.ts';
import type { TagDescription } from '../../media/flv/flv-tag.ts';

const sizedCodecs: Readonly<Record<string, VideoSampleEntryType>> = {
  'H.264': 'avc1',
  HEVC: 'hvc1',
  AV1: 'av01',
};
/** Video is coded in whole blocks, of which up to this many lines and columns are cropped. */
const maxCroppedLines = 15;

/** Ignores the lines and columns that cropping to whole blocks removes. */
export function isResolutionTooLarge({ width, height }: FrameSize, maxPixels: number): boolean {
  return (width - maxCroppedLines) * (height - maxCroppedLines) > maxPixels;
}

export function resolutionTooLargeText({ width, height }: FrameSize, maxPixels: number): string {
  return `The picture of ${width}x${height} is too large: this server takes at most ${maxPixels} pixels. Choose a smaller output resolution in the encoder.`;
}

/** Finds video that is too large before anything decodes it, in decoder configurations and in parameter sets inside of frames. */
export class ResolutionGuard {
  readonly #maxPixels: number;
  #lengthBytes = 4;

  constructor(maxPixels: number) {
    this.#maxPixels = maxPixels;
  }

  /** Returns the first size that a video tag declares and that is too large. */
  find({ codec, role }: TagDescription, body: Buffer): FrameSize | undefined {
    const sized = sizedCodecs[codec.name];
    if (sized === undefined || role === 'other') return undefined;
    if (role === 'config') {
      const { lengthBytes, sizes } = readVideoConfig(sized, body.subarray(5));
      this.#lengthBytes = lengthBytes;
      return this.#tooLarge(sizes);
    }
    return this.#tooLarge(readFrameSizes(sized, body.subarray(headerBytes(body)), this.#lengthBytes));
  }

  #tooLarge(sizes: readonly FrameSize[]): FrameSize | undefined {
    return sizes.find(size => isResolutionTooLarge(size, this.#maxPixels));
  }
}

/** Bytes before the media in a frame's tag body. In enhanced RTMP only coded frames (1) of AVC and HEVC have a composition time. */
function headerBytes(body: Buffer): number {
  const first = body[0] ?? 0;
  if ((first & 0x80) === 0) return 5;
  return (first & 0x0f) === 1 && body.toString('latin1', 1, 5) !== 'av01' ? 8 : 5;
}
