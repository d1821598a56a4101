import type { ProbedFile, ProbedStream } from '../ffmpeg/media-tools.ts';
import type { Picture } from './rungs.ts';

/** What an owner wants of a video beside having it. */
export interface SourceWishes {
  readonly clip?: { readonly startMs: number; readonly endMs: number | undefined } | undefined;
  readonly hasWatermark?: boolean;
  /** False when an attempt to carry the picture as it is has failed. */
  readonly mayCarryVideo?: boolean;
  readonly mayCarryAudio?: boolean;
}

/** What becomes of the picture. */
export interface VideoPlan {
  /** ffprobe's stream index. */
  readonly index: number;
  /** It is delivered as it is. */
  readonly isCarried: boolean;
  /** As it is shown. */
  readonly shown: Picture;
  /** Its pixels are not square. */
  readonly isAnamorphic: boolean;
  readonly isInterlaced: boolean;
  /** It has a high dynamic range, and which: it is mapped to the standard one. */
  readonly toneMapFrom: 'smpte2084' | 'arib-std-b67' | undefined;
  /** More frames a second than are delivered. */
  readonly isTooFast: boolean;
  /** On average; undefined where the file does not say. */
  readonly framesPerSecond: number | undefined;
}

/** What becomes of the sound. */
export interface AudioPlan {
  readonly index: number;
  readonly isCarried: boolean;
}

/** Facts of a source as the API's status tells them; null where a file does not say. */
export interface SourceFacts {
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

/** What is to be made of a source, or why nothing can be: a sentence for its owner. */
export type SourcePlan =
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'planned';
      readonly video: VideoPlan | undefined;
      readonly audio: AudioPlan | undefined;
      /** Of what is delivered: of the clip, where there is one. 0 where the file does not say. */
      readonly durationSeconds: number;
      readonly facts: SourceFacts;
    };

const longestSeconds = 1440 * 60;
const carriedProfiles = ['Constrained Baseline', 'Baseline', 'Main', 'High'];
const carriedAudioProfiles = ['LC', 'HE-AAC', 'HE-AACv2'];
const fastest = 60.5;
const megabit = 1_000_000;

/** Decides what becomes of a file that ffprobe has looked into. */
export function planSource(file: ProbedFile, wishes: SourceWishes): SourcePlan {
  const video = pick(
    file.streams.filter(stream => stream.kind === 'video' && !stream.isAttachedPicture && hasPicture(stream)),
  );
  const audio = pick(
    file.streams.filter(
      ({ kind, codec, channels }) => kind === 'audio' && codec !== 'unknown' && channels !== 0,
    ),
  );
  if (video === undefined && audio === undefined) {
    return { kind: 'refused', reason: 'There is neither a picture nor sound in the file that can be read.' };
  }
  const wholeSeconds = file.durationSeconds ?? video?.durationSeconds ?? audio?.durationSeconds;
  if (wholeSeconds !== undefined && wholeSeconds <= 0) {
    return { kind: 'refused', reason: 'The file has no length.' };
  }
  if (wholeSeconds !== undefined && wholeSeconds >= longestSeconds) {
    return { kind: 'refused', reason: 'The video must be shorter than 1440 minutes.' };
  }
  const { clip } = wishes;
  if (clip !== undefined && wholeSeconds !== undefined && clip.startMs / 1000 >= wholeSeconds) {
    return { kind: 'refused', reason: 'The clip begins after the end of the source.' };
  }
  const shown = video === undefined ? undefined : shownPicture(video);
  return {
    kind: 'planned',
    video: video === undefined ? undefined : planVideo(video, file, wishes),
    audio: audio === undefined ? undefined : planAudio(audio, wishes),
    durationSeconds: clippedSeconds(wholeSeconds ?? 0, clip),
    facts: {
      width: shown?.width ?? null,
      height: shown?.height ?? null,
      bitrate: file.bitsPerSecond === undefined ? null : Math.round(file.bitsPerSecond / 100) / 10,
      duration: wholeSeconds === undefined ? null : Math.round(wholeSeconds),
      framerate: rounded(video?.averageFrameRate ?? video?.baseFrameRate),
      samplerate: rounded(audio?.sampleRate),
      videoCodec: video?.codec ?? null,
      audioCodec: audio?.codec ?? null,
      aspectRatio: shown === undefined ? null : aspectOf(shown),
    },
  };
}

function planVideo(stream: ProbedStream, file: ProbedFile, wishes: SourceWishes): VideoPlan {
  const shown = shownPicture(stream);
  const rate = stream.averageFrameRate ?? stream.baseFrameRate ?? 0;
  const isAnamorphic = Math.abs(pixelAspectOf(stream) - 1) > 0.005;
  const isInterlaced = !['progressive', 'unknown', undefined].includes(stream.fieldOrder);
  const { colorTransfer } = stream;
  const short = Math.min(shown.width, shown.height);
  const bitsPerSecond = stream.bitsPerSecond ?? file.bitsPerSecond ?? 0;
  const isCarried =
    wishes.mayCarryVideo !== false &&
    wishes.clip === undefined &&
    wishes.hasWatermark !== true &&
    stream.codec === 'h264' &&
    carriedProfiles.includes(stream.profile ?? '') &&
    ['yuv420p', 'yuvj420p'].includes(stream.pixelFormat ?? '') &&
    !isInterlaced &&
    !isAnamorphic &&
    (stream.rotation ?? 0) === 0 &&
    short >= 2 &&
    short <= 2160 &&
    Math.max(shown.width, shown.height) <= 4096 &&
    rate <= fastest &&
    bitsPerSecond <= (short <= 1080 ? 16 : 50) * megabit;
  return {
    index: stream.index,
    isCarried,
    shown,
    isAnamorphic,
    isInterlaced,
    toneMapFrom:
      colorTransfer === 'smpte2084' || colorTransfer === 'arib-std-b67' ? colorTransfer : undefined,
    isTooFast: rate > fastest,
    framesPerSecond: rate === 0 ? undefined : rate,
  };
}

function planAudio(stream: ProbedStream, wishes: SourceWishes): AudioPlan {
  const isCarried =
    wishes.mayCarryAudio !== false &&
    wishes.clip === undefined &&
    stream.codec === 'aac' &&
    carriedAudioProfiles.includes(stream.profile ?? '') &&
    (stream.channels ?? 0) >= 1 &&
    (stream.channels ?? 0) <= 2 &&
    (stream.sampleRate ?? 0) >= 8_000 &&
    (stream.sampleRate ?? 0) <= 96_000;
  return { index: stream.index, isCarried };
}

function pick(streams: readonly ProbedStream[]): ProbedStream | undefined {
  return streams.find(({ isDefault }) => isDefault) ?? streams[0];
}

function hasPicture({ codec, width, height }: ProbedStream): boolean {
  return codec !== 'unknown' && (width ?? 0) > 0 && (height ?? 0) > 0;
}

/** No camera has pixels of a shape beyond these: a file that says so is wrong. */
const oddestPixels = { narrowest: 0.1, widest: 10 };

function pixelAspectOf({ pixelAspect = 1 }: ProbedStream): number {
  return pixelAspect < oddestPixels.narrowest || pixelAspect > oddestPixels.widest ? 1 : pixelAspect;
}

function shownPicture(stream: ProbedStream): Picture {
  const { width = 0, height = 0, rotation = 0 } = stream;
  const wide = Math.max(1, Math.round(width * pixelAspectOf(stream)));
  return rotation === 90 || rotation === 270 ? { width: height, height: wide } : { width: wide, height };
}

function clippedSeconds(wholeSeconds: number, clip: SourceWishes['clip']): number {
  if (clip === undefined) return wholeSeconds;
  const end = Math.min(wholeSeconds, (clip.endMs ?? Number.POSITIVE_INFINITY) / 1000);
  return Math.max(0, end - clip.startMs / 1000);
}

function rounded(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Math.round(value);
}

/** Common shapes by their names, since coded sizes are rounded (854x480 is 16/9); others as the exact ratio. */
function aspectOf({ width, height }: Picture): string {
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
