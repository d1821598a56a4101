import { deviceOptions, hardwareOptions } from '../hardware/encoder-device.ts';
import type { BuildCommand } from '../media-tools.ts';
import { allowedFormats, analysis } from '../probe/probe-output.ts';
import {
  audioFilters,
  colorOf,
  endOfClip,
  filterGraph,
  joinedAudioGraph,
  maxFrameRate,
  runUpOf,
  seconds,
  startOfClip,
} from './encode-filters.ts';
import type {
  EncodedAudio,
  EncodedVideo,
  EncodeOptions,
  EncodeRendition,
  SourceClock,
} from './encode-options.ts';

/** Keeps decode times of leading B-frames positive. */
const startSeconds = 10;
const keyframeSeconds = 2;
/** Times are rounded to 90 kHz ticks, and in some files to milliseconds. */
const roundingSeconds = 0.001;
/** Half of the shortest frame, so that rounding never selects the next frame for a keyframe. */
const earlySeconds = 0.008;
/** Linux limits one argument to 128 KiB. */
const maxKeyframeTextLength = 120_000;
/** ISO/IEC 14496-10, table A-1: macroblocks per second and per frame. */
const levels = [
  ['1.3', 11_880, 396],
  ['2.1', 19_800, 792],
  ['3.0', 40_500, 1_620],
  ['3.1', 108_000, 3_600],
  ['3.2', 216_000, 5_120],
  ['4.0', 245_760, 8_192],
  ['4.2', 522_240, 8_704],
  ['5.0', 589_824, 22_080],
  ['5.1', 983_040, 36_864],
  ['5.2', 2_073_600, 36_864],
] as const;
const usualFrameRate = 30;
const audioFragmentMicroseconds = 4_000_000;
export const mediaOnly = ['-format_whitelist', allowedFormats.join(','), ...analysis];
const imagesOnly = ['-format_whitelist', 'png_pipe,jpeg_pipe,image2'];
const fragmentedMp4 = ['-f', 'mp4', '-flush_packets', '1', '-output_ts_offset', String(startSeconds)];
export const withoutMetadata = ['-map_metadata', '-1', '-map_chapters', '-1'];

/**
 * Decodes a source once and writes one fragmented MP4 per rendition, one fragment per GOP.
 * Keyframes have the same times in all renditions. The first presented instant is at ten seconds in every
 * file.
 */
export function encodeCommand(options: EncodeOptions): BuildCommand {
  const { folder, video, audio, steadyAudio, timedBy, threads, device } = options;
  const runUpSeconds = runUpOf(options);
  const overlays = video?.overlays ?? [];
  const inputs = audioInputs(options, 1 + overlays.length);
  return command => {
    openSource(command, readPartOf(options));
    command.inputOptions('-threads', String(threads));
    const rate = video?.assumedFramesPerSecond;
    if (rate !== undefined) command.inputOptions('-r', String(rate));
    if (video !== undefined) command.complexFilter(filterGraph(video, runUpSeconds, device));
    // A graph of its own: that of the video starts again when the size of the pictures changes.
    for (const [index, track] of audio.entries()) {
      if (!isJoined(track)) continue;
      command.inputOptions('-filter_complex', joinedAudioGraph(track, inputs[index]!, runUpSeconds));
    }
    if (video !== undefined) {
      command.inputOptions('-filter_complex_threads', String(threads), ...deviceOptions(device));
      // A filter graph that is rebuilt for another format would lose the overlays' only frame.
      if (overlays.length > 0) command.inputOptions('-reinit_filter:v', '0');
      for (const { path } of overlays) command.input(`file:${path}`).inputOptions(...imagesOnly);
      for (const [index, rendition] of video.renditions.entries()) {
        command
          .output(`file:${folder}/${rendition.name}.mp4`)
          .outputOptions('-map', `[r${index}]`, ...renditionOptions(rendition, video, options));
      }
    }
    if (steadyAudio !== undefined) command.input(`file:${steadyAudio}`).inputOptions(...mediaOnly);
    for (const [index, track] of audio.entries()) {
      command
        .output(`file:${folder}/${track.name}.mp4`)
        .outputOptions(
          ...(isJoined(track)
            ? ['-map', `[${track.name}]`]
            : ['-map', inputs[index]![0]!, '-af', audioFilters(track, runUpSeconds)]),
          ...[...withoutMetadata, '-c:a', 'aac'],
          ...(track.isSurround ? ['-b:a', '384k', '-ac', '6'] : ['-b:a', '128k', '-ac', '2']),
          ...['-max_muxing_queue_size', '4096', '-frag_duration', String(audioFragmentMicroseconds)],
          ...['-movflags', '+delay_moov+default_base_moof', ...fragmentedMp4],
        );
    }
    const read = steadyAudio === undefined ? audio.flatMap(streamsOf) : [];
    return readAlong(
      command,
      timedBy.filter(index => index !== video?.index && !read.includes(index)),
    );
  };
}

/** Part of a source that is read. Times are from its first presented instant. */
export interface ReadPart {
  readonly source: string;
  /** Default: all from the first presented instant on. */
  readonly fromSeconds?: number | undefined;
  readonly lengthSeconds?: number | undefined;
  readonly clock?: SourceClock | undefined;
}

/** The part that {@link encodeCommand} reads. */
export function readPartOf(options: Pick<EncodeOptions, 'source' | 'clip' | 'clock'>): ReadPart {
  const { source, clip, clock } = options;
  const startSeconds = clip === undefined ? 0 : startOfClip(clip);
  const fromSeconds = startSeconds - runUpOf(options);
  const endSeconds = clip && endOfClip(clip);
  return { source, clock, fromSeconds, lengthSeconds: endSeconds && endSeconds - fromSeconds };
}

export function openSource(
  command: Parameters<BuildCommand>[0],
  { source, fromSeconds = 0, lengthSeconds, clock = firstClock }: ReadPart,
): void {
  const { leadSeconds, isSteady } = clock;
  // Reads steady clocks from their start: seeking would begin after the picture that stands still.
  const skippedSeconds = isSteady ? fromSeconds : 0;
  const start =
    fromSeconds > skippedSeconds
      ? ['-ss', seconds(leadSeconds + fromSeconds)]
      : startAtFirst({ isSteady, leadSeconds: leadSeconds + skippedSeconds });
  const length = lengthSeconds === undefined ? [] : ['-t', seconds(skippedSeconds + lengthSeconds)];
  command.input(`file:${source}`).inputOptions(...mediaOnly, ...start, ...length);
}

/** Stream specifiers of each track. */
function audioInputs({ audio, steadyAudio }: EncodeOptions, steadyInput: number): string[][] {
  let next = 1;
  return audio.map(track =>
    streamsOf(track).map(index => (steadyAudio === undefined ? `0:${index}` : `${steadyInput}:${next++}`)),
  );
}

function streamsOf({ index, rightIndex }: EncodedAudio): number[] {
  return rightIndex === undefined ? [index] : [index, rightIndex];
}

function isJoined({ rightIndex }: EncodedAudio): boolean {
  return rightIndex !== undefined;
}

const firstClock: SourceClock = { leadSeconds: 0, isSteady: false };

/** Shifts the first frame of video or audio to zero, where ffmpeg does not: a subtitle comes before, or the clock is kept. */
export function startAtFirst({ leadSeconds, isSteady }: SourceClock): string[] {
  const shift = ['-itsoffset', seconds(-leadSeconds)];
  if (isSteady) return ['-copyts', ...shift];
  return leadSeconds > 0 ? shift : [];
}

/** Reads the audio, too: with discontinuous clocks, ffmpeg shifts the earliest used stream to zero. */
export function readAlong(
  command: Parameters<BuildCommand>[0],
  indexes: readonly number[],
): ReturnType<BuildCommand> {
  if (indexes.length === 0) return command;
  const maps = indexes.flatMap(index => ['-map', `0:${index}`]);
  return command.output('-').outputOptions(...maps, '-c', 'copy', '-f', 'null');
}

function renditionOptions(rendition: EncodeRendition, video: EncodedVideo, options: EncodeOptions): string[] {
  const { matrix, primaries, transfer } = colorOf(video);
  return [
    // The default time base rounds times to a constant frame rate.
    ...[...withoutMetadata, '-vsync', 'vfr', '-enc_time_base', '1:90000'],
    ...encoderOptions(rendition, video, options),
    ...['-colorspace', matrix, '-color_primaries', primaries, '-color_trc', transfer, '-color_range', 'tv'],
    // Only forced keyframes; fifteen seconds at the maximum frame rate bound the GOP.
    ...['-g', String(maxFrameRate * 15)],
    ...['-force_key_frames', keyframeText(video.keyframesAtSeconds), '-max_muxing_queue_size', '4096'],
    ...['-movflags', '+delay_moov+default_base_moof+frag_keyframe', ...fragmentedMp4],
  ];
}

function encoderOptions(rendition: EncodeRendition, video: EncodedVideo, options: EncodeOptions): string[] {
  const { framesPerSecond } = video;
  const { preset, threads, device, codec } = options;
  const { bitsPerSecond } = rendition;
  const bufferBits = 2 * bitsPerSecond;
  if (device !== undefined) return hardwareOptions(device, { isLive: false, bitsPerSecond, bufferBits });
  const pixels = ['-pix_fmt', 'yuv420p'];
  if (codec === 'hevc') return [...x265Options(video, options), ...limitOf(bitsPerSecond), ...pixels];
  if (codec === 'av1') {
    return [...svtAv1Options(video, options), ...limitOf(svtAv1LimitShare * bitsPerSecond), ...pixels];
  }
  return [
    ...['-c:v', 'libx264', '-preset', preset, '-threads', String(threads), '-crf', '23'],
    ...limitOf(bitsPerSecond),
    // Set explicitly: the frame rate that x264 is told is a guess of up to a thousand.
    ...['-profile:v', 'high', '-pix_fmt', 'yuv420p', '-level:v', levelOf(rendition, framesPerSecond)],
    ...['-keyint_min', '1', '-sc_threshold', '0'],
  ];
}

function limitOf(bitsPerSecond: number): string[] {
  return ['-maxrate', String(Math.round(bitsPerSecond)), '-bufsize', String(Math.round(2 * bitsPerSecond))];
}

/** Apple's players accept only `hvc1`. **Source**: x265.readthedocs.io/en/stable/cli.html. */
function x265Options({ framesPerSecond }: EncodedVideo, { preset, threads }: EncodeOptions): string[] {
  const parameters = {
    fps: rateOf(framesPerSecond),
    pools: threads,
    'min-keyint': 1,
    scenecut: 0,
    'open-gop': 0,
    'log-level': 'warning',
  };
  return [
    ...['-c:v', 'libx265', '-preset', preset, '-crf', '26', '-profile:v', 'main', '-tag:v', 'hvc1'],
    ...['-forced-idr', '1', '-x265-params', parametersText(parameters)],
  ];
}

/** SVT-AV1 numbers its presets, the slowest first. **Source**: its Docs/Parameters.md. */
const svtAv1Presets: Readonly<Record<string, string>> = {
  ultrafast: '12',
  superfast: '11',
  veryfast: '10',
  faster: '9',
  fast: '8',
  medium: '7',
  slow: '6',
  slower: '5',
};

/** Share of the limit: with constant quality, the bitrate of noise exceeded it by a quarter. */
const svtAv1LimitShare = 0.8;

function svtAv1Options({ framesPerSecond }: EncodedVideo, { preset, threads }: EncodeOptions): string[] {
  const rate = Math.round(1000 * rateOf(framesPerSecond));
  // ffmpeg 5 does not set it, and SVT-AV1 then ignores forced keyframes.
  const parameters = { 'fps-num': rate, 'fps-denom': 1000, 'enable-force-key-frames': 1, lp: threads };
  return [
    ...['-c:v', 'libsvtav1', '-preset', svtAv1Presets[preset] ?? '10', '-crf', '35'],
    ...['-svtav1-params', parametersText(parameters)],
  ];
}

/** Set explicitly, as the level of H.264: encoders reject the guess of up to a thousand, or compute wrong bitrates with it. */
function rateOf(framesPerSecond: number | undefined): number {
  return Math.round(1000 * Math.min(maxFrameRate, framesPerSecond ?? usualFrameRate)) / 1000;
}

function parametersText(parameters: Readonly<Record<string, string | number>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join(':');
}

function keyframeText(keyframes: readonly number[] | 'every-two'): string {
  // Relative to the previous keyframe: a count would force every frame after a gap until it has caught up.
  const everyTwo = `expr:isnan(prev_forced_t)+gte(t,prev_forced_t+${keyframeSeconds - roundingSeconds})`;
  if (keyframes === 'every-two' || keyframes.length === 0) return everyTwo;
  const text = keyframes.map(shortTime).join(',');
  if (text.length <= maxKeyframeTextLength) return text;
  const step = (keyframes.at(-1)! - keyframes[0]!) / (keyframes.length - 1);
  const isRegular = keyframes.every(
    (at, index) => Math.abs(at - keyframes[0]! - index * step) < earlySeconds / 2,
  );
  return isRegular ? `expr:gte(t,n_forced*${step.toFixed(9)}-${earlySeconds})` : everyTwo;
}

/** Hundredths identify a frame, and fifteen hours of keyframes fit in one argument. */
function shortTime(atSeconds: number): string {
  return Math.max(0, atSeconds - earlySeconds)
    .toFixed(2)
    .replace(/\.?0+$/, '');
}

function levelOf({ width, height }: EncodeRendition, framesPerSecond: number | undefined): string {
  const blocks = Math.ceil(width / 16) * Math.ceil(height / 16);
  // Seconds of a variable frame rate exceed its average.
  const rate = Math.min(maxFrameRate, Math.max(30, (framesPerSecond ?? maxFrameRate) * 1.05));
  const side = Math.max(width, height) / 16;
  const level = levels.find(
    ([, maxBlocksPerSecond, maxBlocks]) =>
      blocks * rate <= maxBlocksPerSecond && blocks <= maxBlocks && side <= Math.sqrt(8 * maxBlocks),
  );
  return (level ?? levels.at(-1)!)[0];
}
