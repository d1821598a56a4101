import type { BuildCommand, ProbedFile } from '../media-tools.ts';
import { audioSyncFilter } from './encode-filters.ts';

export interface ConcatInput {
  readonly path: string;
  readonly output: string;
  /** ffprobe's indexes; undefined for a missing track. */
  readonly videoIndex: number | undefined;
  /** One for each audio track of the result. */
  readonly audioIndexes: readonly (number | undefined)[];
  /** Start on the timeline of the result. */
  readonly startSeconds: number;
  readonly durationSeconds: number;
}

export interface ConcatFormat {
  readonly video: { readonly width: number; readonly height: number } | undefined;
}

/** Keeps the timestamps of each input. */
const transportStream = ['-muxdelay', '0', '-muxpreload', '0', '-f', 'mpegts'];
const filler = { framesPerSecond: 30, sampleRate: 48_000 };
/** Close to the input's quality: the result is encoded again. */
const quality = ['-preset', 'veryfast', '-crf', '16', '-pix_fmt', 'yuv420p'];

/** Repeats parameter sets before each keyframe. */
export function concatCopyCommand({ path, output, videoIndex, audioIndexes }: ConcatInput): BuildCommand {
  const indexes = [videoIndex, ...audioIndexes].filter(index => index !== undefined);
  return command =>
    command
      .input(`file:${path}`)
      .inputOptions('-copyts')
      .output(`file:${output}`)
      .outputOptions(
        ...indexes.flatMap(index => ['-map', `0:${index}`]),
        ...['-c', 'copy', '-map_metadata', '-1', ...transportStream],
      );
}

/** A missing track becomes black or silent. */
export function concatEncodeCommand(input: ConcatInput, { video }: ConcatFormat): BuildCommand {
  const { path, output, videoIndex, audioIndexes, startSeconds, durationSeconds } = input;
  return command => {
    command.input(`file:${path}`);
    let inputs = 1;
    const generated = (source: string) => {
      command.input(source).inputOptions('-f', 'lavfi');
      inputs += 1;
      return `${inputs - 1}:0`;
    };
    const maps: string[] = [];
    if (video !== undefined) {
      const { width, height } = video;
      const black = `color=black:size=${width}x${height}:rate=${filler.framesPerSecond}`;
      maps.push(
        ...['-map', videoIndex === undefined ? generated(black) : `0:${videoIndex}`],
        '-vf',
        `scale=${width}:${height}:force_original_aspect_ratio=decrease,pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2,setsar=1`,
        ...['-c:v', 'libx264', ...quality],
      );
    }
    const silence = `anullsrc=channel_layout=stereo:sample_rate=${filler.sampleRate}`;
    for (const index of audioIndexes)
      maps.push('-map', index === undefined ? generated(silence) : `0:${index}`);
    if (audioIndexes.length > 0) {
      maps.push('-af', audioSyncFilter, '-c:a', 'aac', '-b:a', '192k', '-ac', '2');
    }
    return command
      .output(`file:${output}`)
      .outputOptions(
        ...maps,
        ...['-t', durationSeconds.toFixed(6), '-map_metadata', '-1', '-max_muxing_queue_size', '4096'],
        ...['-output_ts_offset', startSeconds.toFixed(6), ...transportStream],
      );
  };
}

export function hasSameFormat(one: ProbedFile, other: ProbedFile): boolean {
  const [first, second] = [formatOf(one), formatOf(other)];
  return first.codecs === second.codecs && Math.abs(first.aspectRatio / second.aspectRatio - 1) < 0.01;
}

function formatOf({ streams }: ProbedFile) {
  const video = streams.find(({ kind }) => kind === 'video');
  const audio = streams.filter(({ kind }) => kind === 'audio');
  return {
    codecs: [video?.codec, ...audio.map(({ codec }) => codec)].join(' '),
    aspectRatio: video === undefined ? 1 : (video.width ?? 1) / (video.height ?? 1),
  };
}
