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
export interface EncodeOrder {
  readonly source: string;
  /** Files go there. */
  readonly folder: string;
  readonly video:
    | {
        readonly index: number;
        readonly width: number;
        readonly height: number;
        readonly isAnamorphic: boolean;
        readonly isInterlaced: boolean;
        readonly toneMapFrom: 'smpte2084' | 'arib-std-b67' | undefined;
        readonly isTooFast: boolean;
        readonly rungs: readonly EncodeRung[];
        /** When keyframes are due, in seconds from the beginning: at these instants, or every two seconds. */
        readonly keyframesAtSeconds: readonly number[] | 'every-two';
        readonly overlays: readonly Overlay[];
      }
    | undefined;
  /** ffprobe's index of the sound to encode to `audio.mp4`. */
  readonly audioIndex: number | undefined;
  /** The part of the source that is wanted. */
  readonly clip: { readonly startSeconds: number; readonly durationSeconds: number | undefined } | undefined;
  readonly preset: string;
  readonly threads: number;
}

/** Where the renditions' time begins, so that frames that are decoded before they are shown have no negative time. */
const startSeconds = 10;
const fastestRate = 60;
const keyframeSeconds = 2;
/** Linux takes 128 KiB in one argument. */
const keyframeTextAtMost = 120_000;
const audioFragmentMicroseconds = 4_000_000;
const fragmented = ['-f', 'mp4', '-flush_packets', '1', '-output_ts_offset', String(startSeconds)];

/**
 * Arguments of one ffmpeg run that decodes a source once and writes one fragmented MP4 for each rung, one fragment a GOP, and one for
 * the sound. Keyframes are at the same instants in all rungs. The first presented instant of the source is at ten seconds in all of them.
 */
export function encodeArguments(order: EncodeOrder): string[] {
  const { clip, video } = order;
  const args = ['-y', '-threads', String(order.threads)];
  if (clip !== undefined) {
    args.push('-ss', seconds(clip.startSeconds));
    if (clip.durationSeconds !== undefined) args.push('-t', seconds(clip.durationSeconds));
  }
  args.push('-i', `file:${order.source}`);
  for (const { path } of video?.overlays ?? []) args.push('-i', `file:${path}`);
  if (video !== undefined) {
    args.push('-filter_complex', filterGraph(video));
    for (const [index, rung] of video.rungs.entries()) {
      args.push('-map', `[r${index}]`, ...rungArguments(rung, video.keyframesAtSeconds, order));
    }
  }
  if (order.audioIndex !== undefined) {
    args.push(
      ...['-map', `0:${order.audioIndex}`, '-map_metadata', '-1', '-map_chapters', '-1'],
      // Sound that begins late, or has holes, gets silence there: players do not step over holes in it.
      ...['-af', 'aresample=48000:async=1:first_pts=0', '-c:a', 'aac', '-b:a', '128k', '-ac', '2'],
      ...['-max_muxing_queue_size', '4096', '-frag_duration', String(audioFragmentMicroseconds)],
      ...['-movflags', '+delay_moov+default_base_moof', ...fragmented, `file:${order.folder}/audio.mp4`],
    );
  }
  return args;
}

function rungArguments(
  rung: EncodeRung,
  keyframes: readonly number[] | 'every-two',
  { preset, threads, folder }: EncodeOrder,
): string[] {
  return [
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-vsync', 'vfr', '-c:v', 'libx264', '-preset', preset],
    ...['-threads', String(threads), '-crf', '23', '-maxrate', String(rung.bitsPerSecond)],
    ...['-bufsize', String(2 * rung.bitsPerSecond), '-profile:v', 'high', '-pix_fmt', 'yuv420p'],
    // Keyframes where they are asked for and nowhere else; ten seconds at the fastest rate are the longest GOP.
    ...['-g', String(fastestRate * 15), '-keyint_min', '1', '-sc_threshold', '0'],
    ...['-force_key_frames', keyframeText(keyframes), '-max_muxing_queue_size', '4096'],
    ...['-movflags', '+delay_moov+default_base_moof+frag_keyframe', ...fragmented],
    `file:${folder}/${rung.name}.mp4`,
  ];
}

function keyframeText(keyframes: readonly number[] | 'every-two'): string {
  const every = `expr:gte(t,n_forced*${keyframeSeconds})`;
  if (keyframes === 'every-two') return every;
  // A frame is forced when its time is at or after the instant: a bit earlier, so that rounding does not choose the next one.
  const text = keyframes
    .map(at =>
      Math.max(0, at - 0.004)
        .toFixed(3)
        .replace(/\.?0+$/, ''),
    )
    .join(',');
  return text.length > keyframeTextAtMost || text === '' ? every : text;
}

function filterGraph(video: NonNullable<EncodeOrder['video']>): string {
  const { overlays, rungs } = video;
  const chain: string[] = [];
  if (video.isInterlaced) chain.push('yadif=deint=interlaced');
  if (video.isTooFast) chain.push(`fps=${fastestRate}`);
  if (video.toneMapFrom !== undefined) chain.push(toneMap(video.toneMapFrom));
  if (video.isAnamorphic || overlays.length > 0) {
    chain.push(`scale=${video.width}:${video.height}`, 'setsar=1');
  }
  if (chain.length === 0) chain.push('null');
  const graph = [`[0:${video.index}]${chain.join(',')}[base0]`];
  for (const [index, { x, y, width, height, opacity }] of overlays.entries()) {
    graph.push(
      `[${index + 1}:v]format=rgba,scale=${width}:${height},colorchannelmixer=aa=${opacity.toFixed(4)}[mark${index}]`,
      `[base${index}][mark${index}]overlay=x=${x}:y=${y}[base${index + 1}]`,
    );
  }
  const splits = rungs.map((_, index) => `[s${index}]`).join('');
  graph.push(`[base${overlays.length}]split=${rungs.length}${splits}`);
  for (const [index, { width, height }] of rungs.entries()) {
    graph.push(`[s${index}]scale=${width}:${height}:flags=bicubic,setsar=1,format=yuv420p[r${index}]`);
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
  readonly output: string;
}): string[] {
  const maps = [order.videoIndex, order.audioIndex].filter(index => index !== undefined);
  return [
    ...['-y', '-i', `file:${order.source}`, ...maps.flatMap(index => ['-map', `0:${index}`])],
    ...['-c', 'copy', '-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '4096'],
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${order.output}`],
  ];
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
    ...inputs.flatMap(({ path, startSeconds: at }) => ['-itsoffset', seconds(-at), '-i', `file:${path}`]),
    ...inputs.flatMap(({ index }, input) => ['-map', `${input}:${index}`]),
    ...['-c', 'copy', '-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '4096'],
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${order.output}`],
  ];
}

function seconds(value: number): string {
  return value.toFixed(6);
}
