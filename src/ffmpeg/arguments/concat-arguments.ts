import type { ProbedFile } from '../media-tools.ts';
import { audioSyncFilter } from './encode-arguments.ts';

/** One of several files that are put together, one after the other. */
export interface ConcatInput {
  readonly path: string;
  /** An MPEG transport stream. */
  readonly output: string;
  /** ffprobe's indexes of the tracks; undefined for one that it has not. */
  readonly videoIndex: number | undefined;
  readonly audioIndex: number | undefined;
  /** When its first frame is shown, and how long it lasts, in seconds of the whole. */
  readonly startSeconds: number;
  readonly durationSeconds: number;
}

/** What all spans are made to have where they differ too much to be copied. */
export interface ConcatFormat {
  /** undefined: no span has a picture. */
  readonly picture: { readonly width: number; readonly height: number } | undefined;
  readonly hasSound: boolean;
}

/** The span keeps its own time, which goes on from that of the one before. */
const transportStream = ['-muxdelay', '0', '-muxpreload', '0', '-f', 'mpegts'];
const filled = { rate: 30, sampleRate: 48_000 };
/** Nearly as good as it was: it is encoded again. */
const quality = ['-preset', 'veryfast', '-crf', '16', '-pix_fmt', 'yuv420p'];

/** Arguments that copy a span; its parameter sets then stand in front of its keyframes. */
export function concatCopyArguments({ path, output, videoIndex, audioIndex }: ConcatInput): string[] {
  const indexes = [videoIndex, audioIndex].filter(index => index !== undefined);
  return [
    ...['-y', '-copyts', '-i', `file:${path}`, ...indexes.flatMap(index => ['-map', `0:${index}`])],
    ...['-c', 'copy', '-map_metadata', '-1', ...transportStream, `file:${output}`],
  ];
}

/** Arguments that encode a span to what all have: what it lacks is black or silent. */
export function concatEncodeArguments(span: ConcatInput, { picture, hasSound }: ConcatFormat): string[] {
  const { path, output, videoIndex, audioIndex, startSeconds, durationSeconds } = span;
  const args = ['-y', '-i', `file:${path}`];
  let inputs = 1;
  const maps: string[] = [];
  const lacking = (source: string) => {
    args.push('-f', 'lavfi', '-i', source);
    inputs += 1;
    return `${inputs - 1}:0`;
  };
  if (picture !== undefined) {
    const { width, height } = picture;
    const black = `color=black:size=${width}x${height}:rate=${filled.rate}`;
    maps.push('-map', videoIndex === undefined ? lacking(black) : `0:${videoIndex}`);
    maps.push(
      '-vf',
      `scale=${width}:${height}:force_original_aspect_ratio=decrease,pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2,setsar=1`,
      ...['-c:v', 'libx264', ...quality],
    );
  }
  if (hasSound) {
    const silence = `anullsrc=channel_layout=stereo:sample_rate=${filled.sampleRate}`;
    maps.push('-map', audioIndex === undefined ? lacking(silence) : `0:${audioIndex}`);
    maps.push('-af', audioSyncFilter, '-c:a', 'aac', '-b:a', '192k', '-ac', '2');
  }
  return [
    ...args,
    ...maps,
    ...['-t', durationSeconds.toFixed(6), '-map_metadata', '-1', '-max_muxing_queue_size', '4096'],
    ...['-output_ts_offset', startSeconds.toFixed(6), ...transportStream, `file:${output}`],
  ];
}

/** Whether decoders go over from one file to the other by themselves: the same codecs, and a picture of the same shape. */
export function hasSameFormat(one: ProbedFile, other: ProbedFile): boolean {
  const looks = [one, other].map(({ streams }) => {
    const video = streams.find(({ kind }) => kind === 'video');
    const audio = streams.find(({ kind }) => kind === 'audio');
    return { video, audio, ratio: video === undefined ? 1 : (video.width ?? 1) / (video.height ?? 1) };
  });
  const [a, b] = looks;
  if (a === undefined || b === undefined) return false;
  const hasSameCodecs = a.video?.codec === b.video?.codec && a.audio?.codec === b.audio?.codec;
  return hasSameCodecs && Math.abs(a.ratio / b.ratio - 1) < 0.01;
}
