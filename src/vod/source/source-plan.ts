import type { VideoColor } from '../../ffmpeg/arguments/encode-options.ts';
import type { ProbedFile, ProbedStream } from '../../ffmpeg/media-tools.ts';
import { AppError } from '../../shared/errors.ts';
import { canonicalLanguageTag } from '../../shared/text/language-tag.ts';
import type { Resolution } from '../encode/ladder.ts';

/** What an owner wants of a video beside having it. */
export interface SourceRequest {
  readonly clip?: { readonly startMs: number; readonly endMs: number | undefined } | undefined;
  readonly hasWatermark?: boolean;
  /** What is longer is cut there, and told to be so long. */
  readonly maxSeconds?: number | undefined;
  /** False when an attempt to carry the picture as it is has failed. */
  readonly canPassthroughVideo?: boolean;
  readonly canPassthroughAudio?: boolean;
}

/** What becomes of the picture. */
export interface VideoPlan {
  /** ffprobe's stream index. */
  readonly index: number;
  /** It is delivered as it is. */
  readonly isPassthrough: boolean;
  /** Why it is not, for log lines. */
  readonly reason: string | undefined;
  /** As it is shown. */
  readonly displayResolution: Resolution;
  /** Its pixels are not square. */
  readonly isAnamorphic: boolean;
  readonly isInterlaced: boolean;
  /** It has a high dynamic range, and which: it is mapped to the standard one. */
  readonly toneMapFrom: 'smpte2084' | 'arib-std-b67' | undefined;
  /** More frames a second than are delivered. */
  readonly isTooFast: boolean;
  /** On average; undefined where the file does not say, or says what cannot be believed. */
  readonly framesPerSecond: number | undefined;
  /** How its colours are told, which they keep unless they are mapped. */
  readonly colour: VideoColor;
}

/** What becomes of the sound. */
export interface AudioPlan {
  readonly index: number;
  readonly isPassthrough: boolean;
  /** Why it is not, for log lines. */
  readonly reason: string | undefined;
  readonly channels: number;
  /** As the file names it; undefined where it does not. */
  readonly language: string | undefined;
  /**
   * It ends before the picture, and is to go on in silence until then, in seconds since the first presented instant of the two; undefined
   * where it lasts as long.
   */
  readonly untilSeconds: number | undefined;
}

/** Facts of a source as the API's status tells them, with the duration of the clip; null where a file does not say. */
export interface SourceMetadata {
  readonly width: number | null;
  readonly height: number | null;
  /** kbit/s. */
  readonly bitrate: number | null;
  /** Whole seconds. */
  readonly duration: number | null;
  readonly framerate: number | null;
  readonly samplerate: number | null;
  readonly videoCodec: string | null;
  readonly audioCodec: string | null;
  /** Such as `16/9`. */
  readonly aspectRatio: string | null;
}

/** What is to be made of a source. */
export interface PlannedSource {
  readonly kind: 'planned';
  readonly video: VideoPlan | undefined;
  readonly audio: AudioPlan | undefined;
  /** Of what is delivered: of the clip, where there is one. 0 where the file does not say. */
  readonly durationSeconds: number;
  /** The part of the source that is delivered, from its first presented instant on; undefined: all of it. */
  readonly part: { readonly startSeconds: number; readonly durationSeconds: number | undefined } | undefined;
  readonly facts: SourceMetadata;
  /** Size of the file. */
  readonly bytes: number;
}

/** What is to be made of a source, or why nothing can be: a sentence for its owner. */
export type SourcePlan = { readonly kind: 'refused'; readonly reason: string } | PlannedSource;

const maxSourceSeconds = 1440 * 60;
const passthroughProfiles = ['Constrained Baseline', 'Baseline', 'Main', 'High'];
const passthroughPixelFormats = ['yuv420p', 'yuvj420p'];
const passthroughAudioProfiles = ['LC', 'HE-AAC', 'HE-AACv2'];
/** 60, and what the rounding of times to milliseconds makes of it. */
export const maxFramesPerSecond = 60.5;
/** Frames a second above this are a clock, or a default that no player reads: FLV and MKV files of 30 frames a second may say 1000. */
const maxBelievedFrameRate = 300;
const maxPassthroughSide = 4096;
/** A frame of more pixels takes half a gigabyte to decode. */
const maxPixels = 64 * 1024 * 1024;
const maxSide = 16_384;
const megabit = 1_000_000;
const overhangSeconds = 0.5;

/**
 * Decides what becomes of a file that ffprobe has looked into. Of many tracks the default ones are taken, else the first ones that can
 * be decoded; cover images are no picture. A file of sound alone is delivered as sound alone.
 */
export function planSource(file: ProbedFile, wishes: SourceRequest): SourcePlan {
  const video = pickDefault(file.streams.filter(isDecodableVideo));
  const audio = pickDefault(file.streams.filter(isDecodableAudio));
  const refusal = refusalOf(file, video, audio, wishes);
  if (refusal !== undefined) return { kind: 'refused', reason: refusal };
  const wholeSeconds = lengthOf(file, video, audio);
  const shown = video === undefined ? undefined : displayResolutionOf(video);
  const part = partOf(wholeSeconds, wishes);
  const isWhole = part === undefined;
  const durationSeconds =
    part?.durationSeconds ?? Math.max(0, (wholeSeconds ?? 0) - (part?.startSeconds ?? 0));
  return {
    kind: 'planned',
    video: video === undefined ? undefined : planVideo(video, file, wishes, isWhole),
    audio: audio === undefined ? undefined : planAudio(audio, video, wishes, isWhole),
    durationSeconds,
    part,
    facts: {
      width: shown?.width ?? null,
      height: shown?.height ?? null,
      bitrate: file.bitsPerSecond === undefined ? null : Math.round(file.bitsPerSecond / 100) / 10,
      duration: wholeSeconds === undefined ? null : Math.round(durationSeconds),
      framerate: rounded(frameRateOf(video)),
      samplerate: rounded(audio?.sampleRate),
      videoCodec: video?.codec ?? null,
      audioCodec: audio?.codec ?? null,
      aspectRatio: shown === undefined ? null : aspectOf(shown),
    },
    bytes: file.bytes,
  };
}

/**
 * The same of a file that something must be made of.
 *
 * @throws AppError `media-refused`
 */
export function planUsableSource(file: ProbedFile, wishes: SourceRequest): PlannedSource {
  const plan = planSource(file, wishes);
  if (plan.kind === 'planned') return plan;
  throw new AppError('media-refused', plan.reason, { details: { detail: plan.reason } });
}

/** Why nothing can be made of a file, as a sentence. */
function refusalOf(
  file: ProbedFile,
  video: ProbedStream | undefined,
  audio: ProbedStream | undefined,
  { clip }: SourceRequest,
): string | undefined {
  if (video === undefined && audio === undefined) {
    return 'There is neither a picture nor sound in the file that can be read.';
  }
  // Else a film in a format that nobody can decode would become sound without a picture.
  if (video === undefined && file.streams.some(stream => isVideo(stream) && stream.codec === 'unknown')) {
    return 'The picture is in a format that cannot be decoded.';
  }
  if (video !== undefined) {
    const { width = 0, height = 0 } = video;
    const shown = displayResolutionOf(video);
    if (width * height > maxPixels || Math.max(width, height, shown.width, shown.height) > maxSide) {
      return `The picture is too large: ${width} x ${height} pixels.`;
    }
  }
  const seconds = lengthOf(file, video, audio);
  if (seconds !== undefined && seconds <= 0) return 'The file has no length.';
  if (seconds !== undefined && seconds >= maxSourceSeconds) {
    return 'The video must be shorter than 1440 minutes.';
  }
  if (clip === undefined) return undefined;
  if (seconds !== undefined && clip.startMs / 1000 >= seconds) {
    return 'The clip begins after the end of the source.';
  }
  return clip.endMs !== undefined && clip.endMs <= clip.startMs
    ? 'The clip ends before it begins.'
    : undefined;
}

function planVideo(
  stream: ProbedStream,
  file: ProbedFile,
  wishes: SourceRequest,
  isWhole: boolean,
): VideoPlan {
  const displayResolution = displayResolutionOf(stream);
  const frameRate = frameRateOf(stream);
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
    colour: colourOf(stream, displayResolution),
  } as const;
  const reason = videoEncodeReason(stream, traits, file, wishes, isWhole);
  return { ...traits, isPassthrough: reason === undefined, reason };
}

function videoEncodeReason(
  stream: ProbedStream,
  traits: Omit<VideoPlan, 'isPassthrough' | 'reason'>,
  file: ProbedFile,
  wishes: SourceRequest,
  isWhole: boolean,
): string | undefined {
  const { codec, profile = 'unknown', pixelFormat = 'unknown', rotation = 0 } = stream;
  const { width, height } = traits.displayResolution;
  const short = Math.min(width, height);
  const bitsPerSecond = stream.bitsPerSecond ?? file.bitsPerSecond ?? 0;
  if (wishes.canPassthroughVideo === false) return 'not wanted';
  if (!isWhole) return 'only a part is wanted';
  if (wishes.hasWatermark === true) return 'watermark';
  if (codec !== 'h264') return `codec ${codec}`;
  if (!passthroughProfiles.includes(profile)) return `profile ${profile}`;
  if (!passthroughPixelFormats.includes(pixelFormat)) return `pixel format ${pixelFormat}`;
  if (traits.isInterlaced) return 'interlaced';
  if (traits.isAnamorphic) return 'pixels that are not square';
  if (rotation !== 0) return `turned by ${rotation} degrees`;
  if (traits.toneMapFrom !== undefined) return 'high dynamic range';
  if (short > 2160 || Math.max(width, height) > maxPassthroughSide) return 'larger than 2160p';
  if (traits.isTooFast) return 'more than 60 frames a second';
  if (bitsPerSecond > (short <= 1080 ? 16 : 50) * megabit) return `${bitsPerSecond} bit/s`;
  return undefined;
}

function planAudio(
  stream: ProbedStream,
  video: ProbedStream | undefined,
  wishes: SourceRequest,
  isWhole: boolean,
): AudioPlan {
  const { codec, profile = 'unknown', channels = 0, sampleRate = 0 } = stream;
  const pictureEnds = isWhole ? endOf(video) : undefined;
  const isShort = pictureEnds !== undefined && (endOf(stream) ?? pictureEnds) < pictureEnds - overhangSeconds;
  const reason = (() => {
    if (wishes.canPassthroughAudio === false) return 'not wanted';
    if (!isWhole) return 'only a part is wanted';
    if (codec !== 'aac') return `codec ${codec}`;
    if (!passthroughAudioProfiles.includes(profile)) return `profile ${profile}`;
    if (channels < 1 || channels > 2) return `${channels} channels`;
    if (isShort) return 'ends before the picture';
    return sampleRate < 8_000 || sampleRate > 48_000 ? `${sampleRate} samples a second` : undefined;
  })();
  const starts = [video?.startSeconds, stream.startSeconds].filter(start => start !== undefined);
  const untilSeconds = isShort ? pictureEnds - (starts.length === 0 ? 0 : Math.min(...starts)) : undefined;
  const language = stream.language && canonicalLanguageTag(stream.language) && stream.language;
  return {
    index: stream.index,
    isPassthrough: reason === undefined,
    reason,
    channels,
    language,
    untilSeconds,
  };
}

function frameRateOf(stream: ProbedStream | undefined): number | undefined {
  const rate = stream?.averageFrameRate ?? stream?.baseFrameRate;
  return rate !== undefined && rate <= maxBelievedFrameRate ? rate : undefined;
}

/** In the file's time, where the file says so of the track itself. */
function endOf(stream: ProbedStream | undefined): number | undefined {
  const { durationSeconds, startSeconds = 0 } = stream ?? {};
  return durationSeconds === undefined ? undefined : startSeconds + durationSeconds;
}

function isVideo({ kind, isCoverImage }: ProbedStream): boolean {
  return kind === 'video' && !isCoverImage;
}

function isDecodableVideo(stream: ProbedStream): boolean {
  const { codec, width = 0, height = 0 } = stream;
  return isVideo(stream) && codec !== 'unknown' && width > 0 && height > 0;
}

function isDecodableAudio({ kind, codec, sampleRate, channels }: ProbedStream): boolean {
  return kind === 'audio' && codec !== 'unknown' && sampleRate !== undefined && channels !== undefined;
}

function lengthOf(
  file: ProbedFile,
  video: ProbedStream | undefined,
  audio: ProbedStream | undefined,
): number | undefined {
  return file.durationSeconds ?? video?.durationSeconds ?? audio?.durationSeconds;
}

/** The part that is wanted; undefined: all of it. */
function partOf(wholeSeconds: number | undefined, { clip, maxSeconds }: SourceRequest) {
  const startSeconds = (clip?.startMs ?? 0) / 1000;
  const left = (wholeSeconds ?? Number.POSITIVE_INFINITY) - startSeconds;
  const wished = clip?.endMs === undefined ? Number.POSITIVE_INFINITY : clip.endMs / 1000 - startSeconds;
  // The last frame, or the sound after it, may reach a bit further: that is no reason to encode all of it anew.
  const allowed =
    maxSeconds === undefined || left <= maxSeconds + overhangSeconds ? Number.POSITIVE_INFINITY : maxSeconds;
  const durationSeconds = Math.min(wished, allowed);
  if (durationSeconds < left) return { startSeconds, durationSeconds };
  return startSeconds === 0 ? undefined : { startSeconds, durationSeconds: undefined };
}

const matrices = ['bt709', 'smpte170m', 'bt470bg', 'smpte240m', 'fcc', 'bt2020nc'];
const primaries = ['bt709', 'smpte170m', 'bt470bg', 'bt470m', 'smpte240m', 'bt2020'];
const transfers = ['bt709', 'smpte170m', 'smpte240m', 'iec61966-2-1', 'bt2020-10', 'bt2020-12'];
const rgbPixels = /^(rgb|bgr|gbr|argb|abgr|0rgb|0bgr|pal8|x2rgb|monob|monow)/;

/** What a file does not say is what decoders assume: the colours of HD, or of SD for small pictures; in all rungs alike. */
function colourOf(stream: ProbedStream, shown: Resolution): VideoColor {
  const isRgb = rgbPixels.test(stream.pixelFormat ?? '');
  const isSmall = Math.min(shown.width, shown.height) < 720;
  const usual = isSmall && !isRgb ? 'smpte170m' : 'bt709';
  const known = (names: readonly string[], name: string | undefined, other: string) =>
    name !== undefined && names.includes(name) ? name : other;
  const matrix = isRgb ? 'bt709' : known(matrices, stream.colorSpace, usual);
  const own = matrix === 'bt709' ? 'bt709' : usual;
  return {
    matrix,
    primaries: known(primaries, stream.colorPrimaries, own),
    transfer: known(transfers, stream.colorTransfer, own),
    isRgb,
  };
}

function pickDefault(streams: readonly ProbedStream[]): ProbedStream | undefined {
  return streams.find(({ isDefault }) => isDefault) ?? streams[0];
}

/** No camera has pixels of a shape beyond these: a file that says so is wrong. */
const pixelAspectLimits = { narrowest: 0.1, widest: 10 };

function pixelAspectOf({ pixelAspect = 1 }: ProbedStream): number {
  return pixelAspect < pixelAspectLimits.narrowest || pixelAspect > pixelAspectLimits.widest
    ? 1
    : pixelAspect;
}

function displayResolutionOf(stream: ProbedStream): Resolution {
  const { width = 0, height = 0, rotation = 0 } = stream;
  const wide = Math.max(1, Math.round(width * pixelAspectOf(stream)));
  return rotation === 90 || rotation === 270 ? { width: height, height: wide } : { width: wide, height };
}

function rounded(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Math.round(value);
}

/** Common shapes by their names, since coded sizes are rounded (854x480 is 16/9); others as the exact ratio. */
function aspectOf({ width, height }: Resolution): string {
  const ratio = width / height;
  for (const [wide, high] of [
    [16, 9],
    [4, 3],
    [1, 1],
    [9, 16],
    [3, 4],
    [21, 9],
  ] as const) {
    if (Math.abs(ratio / (wide / high) - 1) < 0.01) return `${wide}/${high}`;
  }
  const divisor = greatestCommonDivisor(width, height);
  return `${width / divisor}/${height / divisor}`;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
