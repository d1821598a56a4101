import { allowedFormats } from '../probe/probe-output.ts';

/** How a picture's colours are told; names are ffmpeg's. */
export interface VideoColor {
  readonly matrix: string;
  readonly primaries: string;
  readonly transfer: string;
  /** It is red, green and blue, from which luma is made by `matrix`. */
  readonly isRgb: boolean;
}

/** One rung to be encoded. */
export interface EncodeRung {
  /** The file is `<name>.mp4`. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
}

/** An image that is burned in; pixels of the picture as it is shown. */
export interface Overlay {
  readonly path: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** 0..1. */
  readonly opacity: number;
}

/** One run over a source. */
export interface EncodeOptions {
  readonly source: string;
  /** Files go there. */
  readonly folder: string;
  readonly video:
    | {
        readonly index: number;
        readonly width: number;
        readonly height: number;
        readonly isInterlaced: boolean;
        readonly toneMapFrom: 'smpte2084' | 'arib-std-b67' | undefined;
        readonly isTooFast: boolean;
        /** Frames a second, on average; undefined where that is not known: then frames too near to the one before are left out. */
        readonly framesPerSecond?: number | undefined;
        /** Those of the encoded picture, unless it is mapped to the standard range; default bt709. */
        readonly colour?: VideoColor;
        readonly rungs: readonly EncodeRung[];
        /** When keyframes are due, in seconds from the beginning: at these instants, or every two seconds. */
        readonly keyframesAtSeconds: readonly number[] | 'every-two';
        readonly overlays: readonly Overlay[];
      }
    | undefined;
  /** ffprobe's index of the sound to encode to `audio.mp4`. */
  readonly audioIndex: number | undefined;
  /** How many channels it has, where that is known. */
  readonly audioChannels?: number | undefined;
  /** Sound that ends earlier goes on in silence until then, counted from the file's start: players stop where one of two tracks does. */
  readonly audioUntilSeconds?: number | undefined;
  /** ffprobe's indexes of all that the video consists of: the earliest of these begins at ten seconds, whatever is encoded in this run. */
  readonly timedBy: readonly number[];
  /** The part of the source that is wanted. */
  readonly clip: { readonly startSeconds: number; readonly durationSeconds: number | undefined } | undefined;
  readonly preset: string;
  readonly threads: number;
}

/** Where the renditions' time begins, so that frames that are decoded before they are shown have no negative time. */
const startSeconds = 10;
const fastestRate = 60;
const keyframeSeconds = 2;
/** A frame of the fastest rate, in a file that rounds times to milliseconds. */
const minFrameSeconds = 0.0155;
/** A frame less than this early is not early: times are rounded to ticks of 90 kHz, and before that to milliseconds by some files. */
const roundingSeconds = 0.001;
/** Keyframes are asked for half of the shortest frame earlier, so that rounding never chooses the next frame. */
const earlySeconds = 0.008;
/** Linux takes 128 KiB in one argument. */
const keyframeTextAtMost = 120_000;
const standardColour: VideoColor = {
  matrix: 'bt709',
  primaries: 'bt709',
  transfer: 'bt709',
  isRgb: false,
};
/** ISO/IEC 14496-10, table A-1: macroblocks a second and in a frame that a level allows. */
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
/** Those of 7.1. */
const mostMixedChannels = 8;
/**
 * Resamples audio so that it stays at its timestamps: fills gaps with silence and drops overlaps once they add up to 40 ms, by which audio
 * may be early unnoticed. Less would take the jitter of timestamps in program streams for gaps.
 *
 * **Source**: EBU R37; ffmpeg-resampler(1), `async` and `min_hard_comp` (default 0.1).
 */
export const audioSyncFilter = 'aresample=48000:async=1:min_hard_comp=0.04:first_pts=0';
/** Longer than the GOPs of broadcasts and cameras. */
const runUpSeconds = 20;
const audioFragmentMicroseconds = 4_000_000;
/** Nothing but media is opened, whatever ffmpeg takes a file for. */
const mediaOnly = ['-format_whitelist', allowedFormats.join(',')];
const imagesOnly = ['-format_whitelist', 'png_pipe,jpeg_pipe,image2'];
/** Images are there before any picture, whatever times a file has. */
const imagesAtSeconds = -7200;
const fragmented = ['-f', 'mp4', '-flush_packets', '1', '-output_ts_offset', String(startSeconds)];

/**
 * Arguments of one ffmpeg run that decodes a source once and writes one fragmented MP4 for each rung, one fragment a GOP, and one for
 * the sound. Keyframes are at the same instants in all rungs. The first presented instant of the source is at ten seconds in all of them.
 */
export function encodeArguments(order: EncodeOptions): string[] {
  const { clip, video } = order;
  const args = ['-y', '-threads', String(order.threads)];
  const skipSeconds = skipOf(clip);
  if (clip !== undefined) {
    const from = clip.startSeconds - skipSeconds;
    if (from > 0) args.push('-ss', seconds(from));
    if (clip.durationSeconds !== undefined) args.push('-t', seconds(skipSeconds + clip.durationSeconds));
  }
  // A picture whose size or format changes would have the filters made anew, without the images, whose only frame is gone by then.
  if ((video?.overlays.length ?? 0) > 0) args.push('-reinit_filter', '0');
  args.push(...mediaOnly, '-i', `file:${order.source}`);
  for (const { path } of video?.overlays ?? []) args.push(...imagesOnly, '-i', `file:${path}`);
  if (video !== undefined) {
    args.push('-filter_complex_threads', String(order.threads));
    args.push('-filter_complex', filterGraph(video, skipSeconds));
    for (const [index, rung] of video.rungs.entries()) {
      args.push('-map', `[r${index}]`, ...rungArguments(rung, video, order));
    }
  }
  if (order.audioIndex !== undefined) {
    args.push(
      ...['-map', `0:${order.audioIndex}`, '-map_metadata', '-1', '-map_chapters', '-1'],
      ...['-af', soundFilters(order), '-c:a', 'aac', '-b:a', '128k', '-ac', '2'],
      ...['-max_muxing_queue_size', '4096', '-frag_duration', String(audioFragmentMicroseconds)],
      ...['-movflags', '+delay_moov+default_base_moof', ...fragmented, `file:${order.folder}/audio.mp4`],
    );
  }
  const used = [...(video === undefined ? [] : [video.index]), order.audioIndex];
  return [...args, ...readAlong(order.timedBy.filter(index => !used.includes(index)))];
}

/**
 * Reads streams and throws them away. In containers whose clock may jump, such as MPEG-TS, ffmpeg lets the earliest of the streams that it
 * uses begin at zero: without the sound, a picture that begins later would come too early.
 */
function readAlong(indexes: readonly number[]): string[] {
  if (indexes.length === 0) return [];
  return [...indexes.flatMap(index => ['-map', `0:${index}`]), '-c', 'copy', '-f', 'null', '-'];
}

function rungArguments(
  rung: EncodeRung,
  video: EncodedVideo,
  { preset, threads, folder }: EncodeOptions,
): string[] {
  const { matrix, primaries, transfer } = colourOf(video);
  return [
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-vsync', 'vfr', '-c:v', 'libx264', '-preset', preset],
    // Else times are rounded to those of a constant rate, which many films only nearly have.
    ...[
      '-enc_time_base',
      '1:90000',
      '-threads',
      String(threads),
      '-crf',
      '23',
      '-maxrate',
      String(rung.bitsPerSecond),
    ],
    ...['-bufsize', String(2 * rung.bitsPerSecond), '-profile:v', 'high', '-pix_fmt', 'yuv420p'],
    // The rate that x264 is told is but a guess, and may be a thousand; the level is not to follow from it.
    ...[
      '-level:v',
      levelOf(rung, video.framesPerSecond),
      '-colorspace',
      matrix,
      '-color_primaries',
      primaries,
    ],
    ...['-color_trc', transfer, '-color_range', 'tv'],
    // Keyframes where they are asked for and nowhere else; ten seconds at the fastest rate are the longest GOP.
    ...['-g', String(fastestRate * 15), '-keyint_min', '1', '-sc_threshold', '0'],
    ...['-force_key_frames', keyframeText(video.keyframesAtSeconds), '-max_muxing_queue_size', '4096'],
    ...['-movflags', '+delay_moov+default_base_moof+frag_keyframe', ...fragmented],
    `file:${folder}/${rung.name}.mp4`,
  ];
}

function keyframeText(keyframes: readonly number[] | 'every-two'): string {
  // Counted from the keyframe before: else, after a time without a frame, every frame would be one until their number is made up for.
  const every = `expr:isnan(prev_forced_t)+gte(t,prev_forced_t+${keyframeSeconds - roundingSeconds})`;
  if (keyframes === 'every-two' || keyframes.length === 0) return every;
  const text = keyframes.map(shortTime).join(',');
  if (text.length <= keyframeTextAtMost) return text;
  const step = (keyframes.at(-1)! - keyframes[0]!) / (keyframes.length - 1);
  const isRegular = keyframes.every(
    (at, index) => Math.abs(at - keyframes[0]! - index * step) < earlySeconds / 2,
  );
  return isRegular ? `expr:gte(t,n_forced*${step.toFixed(9)}-${earlySeconds})` : every;
}

/** Hundredths are enough to name a frame, so that the instants of fifteen hours go into one argument. */
function shortTime(atSeconds: number): string {
  return Math.max(0, atSeconds - earlySeconds)
    .toFixed(2)
    .replace(/\.?0+$/, '');
}

/** The lowest level that a rung needs. */
function levelOf({ width, height }: EncodeRung, framesPerSecond: number | undefined): string {
  const blocks = Math.ceil(width / 16) * Math.ceil(height / 16);
  // Where frames do not come evenly, some seconds have more of them than the average.
  const rate = Math.min(fastestRate, Math.max(30, (framesPerSecond ?? fastestRate) * 1.05));
  const side = Math.max(width, height) / 16;
  const level = levels.find(
    ([, blocksASecond, blocksAFrame]) =>
      blocks * rate <= blocksASecond && blocks <= blocksAFrame && side <= Math.sqrt(8 * blocksAFrame),
  );
  return (level ?? levels.at(-1)!)[0];
}

function colourOf({ toneMapFrom, colour = standardColour }: EncodedVideo): VideoColor {
  return toneMapFrom === undefined ? colour : standardColour;
}

type EncodedVideo = NonNullable<EncodeOptions['video']>;

/**
 * How much is read before a part begins. Where a file does not know where its keyframes are, a search by time ends at one that is too
 * late: what is before the part is decoded, and then left out.
 */
function skipOf(clip: EncodeOptions['clip']): number {
  return Math.min(runUpSeconds, clip?.startSeconds ?? 0);
}

/** Filters that leave out the beginning, and begin to count after it. */
function skip(kind: 'a' | 'v', skipSeconds: number): string {
  if (skipSeconds === 0) return '';
  const [trim, setpts] = kind === 'a' ? ['atrim', 'asetpts'] : ['trim', 'setpts'];
  const at = seconds(skipSeconds);
  return `${trim}=start=${at},${setpts}=PTS-${at}/TB,`;
}

/** Sound that begins late, or has holes, gets silence there: players do not step over holes in it. */
function soundFilters({ audioChannels = 0, audioUntilSeconds, clip }: EncodeOptions): string {
  // Of so many it is not known which belong where; by custom the first two are the mix.
  const mix = audioChannels > mostMixedChannels ? 'pan=stereo|c0=c0|c1=c1,' : '';
  const pad =
    audioUntilSeconds === undefined ? '' : `,apad=whole_len=${Math.round(48_000 * audioUntilSeconds)}`;
  return `${mix}${skip('a', skipOf(clip))}${audioSyncFilter}${pad}`;
}

function filterGraph(video: EncodedVideo, skipSeconds: number): string {
  const { overlays, rungs } = video;
  const chain: string[] = [];
  const { matrix, isRgb } = colourOf(video);
  // Where images go is said in pixels of the whole picture; without any the rungs are scaled from the picture as it is coded.
  const hasImages = overlays.length > 0;
  const options = [
    ...(hasImages ? [`${video.width}:${video.height}`] : []),
    ...(hasImages && video.isInterlaced ? ['interl=1'] : []),
    // The only step that makes luma of it, so that the matrix is the one that is told.
    ...(isRgb ? [`out_color_matrix=${matrix}`, 'out_range=tv'] : []),
  ];
  // The first of all, since it is one that takes a picture of another size.
  if (hasImages) chain.push(`select='gt(t,${imagesAtSeconds})'`);
  if (options.length > 0) chain.push(`scale=${options.join(':')}`);
  if (isRgb) chain.push('format=yuv420p');
  if (video.isInterlaced) chain.push('yadif=deint=interlaced');
  if (video.isTooFast) chain.push(`fps=${fastestRate}`);
  else if (video.framesPerSecond === undefined) {
    chain.push(`select='isnan(prev_selected_t)+gte(t-prev_selected_t,${minFrameSeconds})'`);
  }
  if (video.toneMapFrom !== undefined) {
    const top = rungs.at(-1);
    // In its floating point numbers a large picture would take gigabytes.
    if (!hasImages && top !== undefined) chain.push(`scale=${top.width}:${top.height}`);
    chain.push(toneMap(video.toneMapFrom));
  }
  if (hasImages) chain.push('setsar=1');
  if (chain.length === 0) chain.push('null');
  const graph = [`[0:${video.index}]${skip('v', skipSeconds)}${chain.join(',')}[base0]`];
  for (const [index, { x, y, width, height, opacity }] of overlays.entries()) {
    graph.push(
      `[${index + 1}:v]setpts=${imagesAtSeconds}/TB,format=rgba,scale=${width}:${height},colorchannelmixer=aa=${opacity.toFixed(4)}[mark${index}]`,
      `[base${index}][mark${index}]overlay=x=${x}:y=${y}[base${index + 1}]`,
    );
  }
  const splits = rungs.map((_, index) => `[s${index}]`).join('');
  graph.push(`[base${overlays.length}]split=${rungs.length}${splits}`);
  for (const [index, { width, height }] of rungs.entries()) {
    graph.push(
      `[s${index}]scale=${width}:${height}:flags=bicubic:out_range=tv,setsar=1,format=yuv420p[r${index}]`,
    );
  }
  return graph.join(';');
}

/** From a high dynamic range to the standard one. */
function toneMap(from: string): string {
  return [
    `zscale=tin=${from}:pin=bt2020:min=2020_ncl:rin=tv:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=tv',
    'format=yuv420p',
  ].join(',');
}

/** Arguments that put H.264 and AAC of another container into an MP4 as they are, with its index in front. */
export function remuxArguments(order: {
  readonly source: string;
  readonly videoIndex: number | undefined;
  readonly audioIndex: number | undefined;
  /** As in {@link EncodeOptions}. */
  readonly timedBy: readonly number[];
  readonly output: string;
}): string[] {
  const maps = [order.videoIndex, order.audioIndex].filter(index => index !== undefined);
  return [
    ...['-y', ...mediaOnly, '-i', `file:${order.source}`, ...maps.flatMap(index => ['-map', `0:${index}`])],
    ...['-c', 'copy', '-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '4096'],
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${order.output}`],
    ...readAlong(order.timedBy.filter(index => !maps.includes(index))),
  ];
}

/** Arguments that read tracks to their ends and write nothing: the progress then tells how long they last together. */
export function measureArguments(source: string, indexes: readonly number[]): string[] {
  return ['-y', ...mediaOnly, '-i', `file:${source}`, ...readAlong(indexes)];
}

/** A file that a track of the mp4 comes from. */
export interface Mp4Input {
  readonly path: string;
  /** ffmpeg's stream index in the file. */
  readonly index: number;
  /** When the video's first presented instant is, in the file's time. */
  readonly startSeconds: number;
}

/** Arguments that put renditions together into one MP4 to download: nothing is encoded, the index stands in front. */
export function mp4Arguments(order: {
  readonly video: Mp4Input;
  readonly audio: Mp4Input | undefined;
  readonly output: string;
}): string[] {
  const inputs = [order.video, ...(order.audio === undefined ? [] : [order.audio])];
  return [
    // Each input keeps its own time, moved so that all begin together.
    ...['-y', '-copyts'],
    ...inputs.flatMap(({ path, startSeconds: at }) => [
      '-itsoffset',
      seconds(-at),
      ...mediaOnly,
      '-i',
      `file:${path}`,
    ]),
    ...inputs.flatMap(({ index }, input) => ['-map', `${input}:${index}`]),
    ...['-c', 'copy', '-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '4096'],
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${order.output}`],
  ];
}

function seconds(value: number): string {
  return value.toFixed(6);
}
