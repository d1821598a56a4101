import { pixelAspectLimits } from '../../ffmpeg/arguments/encode-filters.ts';
import type { VideoColor } from '../../ffmpeg/arguments/encode-options.ts';
import type { ProbedFile, ProbedStream } from '../../ffmpeg/media-tools.ts';
import { rawFormats, usualRawFrameRate } from '../../ffmpeg/probe/probe-output.ts';
import type { Resolution } from '../encode/ladder.ts';
import type { SourceRequest } from './source-request.ts';

export interface VideoPlan {
  readonly index: number;
  readonly isPassthrough: boolean;
  readonly reason: string | undefined;
  readonly displayResolution: Resolution;
  readonly isAnamorphic: boolean;
  readonly isInterlaced: boolean;
  /** HDR transfer function, tone-mapped to SDR. */
  readonly toneMapFrom: 'smpte2084' | 'arib-std-b67' | undefined;
  readonly isTooFast: boolean;
  readonly framesPerSecond: number | undefined;
  /** Frame rate of a raw stream whose own clock cannot be one of frames. */
  readonly assumedFramesPerSecond: number | undefined;
  /** Encodes keep it unless they are tone-mapped. */
  readonly colour: VideoColor;
}

/** 60 fps, plus the rounding of timestamps to milliseconds. */
export const maxFramesPerSecond = 60.5;
/** Higher frame rates are a clock or a default: FLV and MKV files with 30 fps may state 1000. */
const maxPlausibleFrameRate = 300;
const maxPassthroughSide = 4096;
const megabit = 1_000_000;
const passthroughProfiles = ['Constrained Baseline', 'Baseline', 'Main', 'High'];
const passthroughPixelFormats = ['yuv420p', 'yuvj420p'];

export function planVideo(
  stream: ProbedStream,
  file: ProbedFile,
  request: SourceRequest,
  isWhole: boolean,
): VideoPlan {
  const displayResolution = displayResolutionOf(stream);
  const statedRate = frameRateOf(stream);
  const isUnclocked = statedRate === undefined && rawFormats.includes(file.format);
  const frameRate = isUnclocked ? usualRawFrameRate : statedRate;
  const { colorTransfer } = stream;
  const traits = {
    index: stream.index,
    displayResolution,
    isAnamorphic: Math.abs(pixelAspectOf(stream) - 1) > 0.005,
    isInterlaced: !['progressive', 'unknown', undefined].includes(stream.fieldOrder),
    toneMapFrom:
      colorTransfer === 'smpte2084' || colorTransfer === 'arib-std-b67' ? colorTransfer : undefined,
    isTooFast: (frameRate ?? 0) > maxFramesPerSecond,
    framesPerSecond: frameRate,
    assumedFramesPerSecond: isUnclocked ? usualRawFrameRate : undefined,
    colour: colourOf(stream, displayResolution),
  } as const;
  const reason = videoEncodeReason(stream, traits, file, request, isWhole);
  return { ...traits, isPassthrough: reason === undefined, reason };
}

function videoEncodeReason(
  stream: ProbedStream,
  traits: Omit<VideoPlan, 'isPassthrough' | 'reason'>,
  file: ProbedFile,
  request: SourceRequest,
  isWhole: boolean,
): string | undefined {
  const { codec, profile = 'unknown', pixelFormat = 'unknown', rotation = 0 } = stream;
  const { width, height } = traits.displayResolution;
  const short = Math.min(width, height);
  const bitsPerSecond = stream.bitsPerSecond ?? file.bitsPerSecond ?? 0;
  if (request.canPassthroughVideo === false) return 'not wanted';
  if (!isWhole) return 'only a part is wanted';
  if (request.hasWatermark === true) return 'watermark';
  if (codec !== 'h264') return `codec ${codec}`;
  if (!passthroughProfiles.includes(profile)) return `profile ${profile}`;
  if (!passthroughPixelFormats.includes(pixelFormat)) return `pixel format ${pixelFormat}`;
  if (traits.isInterlaced) return 'interlaced';
  if (stream.isReordered === true && ['avi', ...rawFormats].includes(file.format)) {
    return 'reordered frames without presentation times';
  }
  if (traits.assumedFramesPerSecond !== undefined) return 'an impossible frame rate';
  if (traits.isAnamorphic) return 'pixels that are not square';
  if (rotation !== 0) return `turned by ${rotation} degrees`;
  if (stream.isTransformed === true) return 'mirrored';
  if (traits.toneMapFrom !== undefined) return 'high dynamic range';
  if (short > 2160 || Math.max(width, height) > maxPassthroughSide) return 'larger than 2160p';
  if (traits.isTooFast) return 'more than 60 frames a second';
  if (bitsPerSecond > (short <= 1080 ? 16 : 50) * megabit) return `${bitsPerSecond} bit/s`;
  return undefined;
}

export function frameRateOf(stream: ProbedStream | undefined): number | undefined {
  const rate = stream?.averageFrameRate ?? stream?.baseFrameRate;
  return rate !== undefined && rate <= maxPlausibleFrameRate ? rate : undefined;
}

const matrices = ['bt709', 'smpte170m', 'bt470bg', 'smpte240m', 'fcc', 'bt2020nc'];
const primaries = ['bt709', 'smpte170m', 'bt470bg', 'bt470m', 'smpte240m', 'bt2020'];
const transfers = ['bt709', 'smpte170m', 'smpte240m', 'iec61966-2-1', 'bt2020-10', 'bt2020-12'];
const rgbPixels = /^(rgb|bgr|gbr|argb|abgr|0rgb|0bgr|pal8|x2rgb|monob|monow)/;

/** Missing values are those that decoders assume: HD colors, or SD below 720 lines. */
function colourOf(stream: ProbedStream, resolution: Resolution): VideoColor {
  const isRgb = rgbPixels.test(stream.pixelFormat ?? '');
  const isSd = Math.min(resolution.width, resolution.height) < 720;
  const assumed = isSd && !isRgb ? 'smpte170m' : 'bt709';
  const known = (names: readonly string[], name: string | undefined, other: string) =>
    name !== undefined && names.includes(name) ? name : other;
  const matrix = isRgb ? 'bt709' : known(matrices, stream.colorSpace, assumed);
  const own = matrix === 'bt709' ? 'bt709' : assumed;
  return {
    matrix,
    primaries: known(primaries, stream.colorPrimaries, own),
    transfer: known(transfers, stream.colorTransfer, own),
    isRgb,
  };
}

function pixelAspectOf({ pixelAspect = 1 }: ProbedStream): number {
  return pixelAspect < pixelAspectLimits.min || pixelAspect > pixelAspectLimits.max ? 1 : pixelAspect;
}

export function displayResolutionOf(stream: ProbedStream): Resolution {
  const { width = 0, height = 0, rotation = 0 } = stream;
  const squareWidth = Math.max(1, Math.round(width * pixelAspectOf(stream)));
  return rotation === 90 || rotation === 270
    ? { width: height, height: squareWidth }
    : { width: squareWidth, height };
}
