import type { Overlay } from './encode-options.ts';

/** One picture that is made of a live stream. */
export interface LiveEncodeRendition {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** The most that a second takes. */
  readonly bitsPerSecond: number;
  /** Frames that are shown before this time of the input are left out. */
  readonly fromSeconds: number;
}

/** What one run makes of the picture of a live stream. */
export interface LiveEncodeOptions {
  /** The picture as it is shown, with square pixels. */
  readonly width: number;
  readonly height: number;
  readonly renditions: readonly LiveEncodeRendition[];
  /** Burned into all of them. */
  readonly overlay: Overlay | undefined;
  /** Of so many frames one is kept, and keyframes. */
  readonly frameDivisor: number;
  readonly threads: number;
  /** Larger pictures are not decoded. */
  readonly maxPixels: number;
}

/** No encoder is to set keyframes of its own: the longest distance, in frames. */
const never = 100_000;
/** The mark is there long before any picture: publishers may give times below 0, down to minus 15 minutes. */
const markSeconds = -7200;

/**
 * Arguments of one ffmpeg that decodes FLV on stdin once and writes each rung as fragmented MP4, one fragment a frame, on a pipe of its
 * own, from descriptor 3 up in the order of the rungs.
 *
 * Keyframes are where the source has them and nowhere else, times are those of the source, and no frame waits for another: nothing is
 * looked ahead at, and there are no B-frames.
 */
export function liveEncodeArguments(order: LiveEncodeOptions): string[] {
  const args = [
    ...['-hide_banner', '-nostats', '-loglevel', 'warning', '-copyts', '-threads', '1'],
    // A picture whose size or format changes would have the filters made anew, without the mark, whose only frame is gone by then.
    ...[
      '-reinit_filter',
      '0',
      '-max_pixels',
      String(order.maxPixels),
      '-analyzeduration',
      '1000',
      '-probesize',
      '32768',
      '-f',
      'flv',
      '-i',
      'pipe:0',
    ],
  ];
  if (order.overlay !== undefined) args.push('-f', 'png_pipe', '-i', `file:${order.overlay.path}`);
  args.push('-filter_complex_threads', '1', '-filter_complex', filterGraph(order));
  for (const [index, { bitsPerSecond }] of order.renditions.entries()) {
    args.push(
      ...['-map', `[r${index}]`, '-map_metadata', '-1', '-vsync', 'passthrough', '-enc_time_base', '1:1000'],
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-tune', 'zerolatency', '-profile:v', 'high'],
      ...['-threads', String(order.threads), '-crf', '23'],
      ...['-maxrate', String(bitsPerSecond), '-bufsize', String(bitsPerSecond)],
      ...['-g', String(never), '-keyint_min', '1', '-sc_threshold', '0', '-force_key_frames', 'source'],
      // Without a trailer, as what is only copied.
      ...['-f', 'mp4', '-movflags', '+empty_moov+default_base_moof+frag_every_frame+skip_trailer'],
      ...['-flush_packets', '1'],
      `pipe:${3 + index}`,
    );
  }
  return args;
}

function filterGraph({ width, height, renditions: rungs, overlay, frameDivisor }: LiveEncodeOptions): string {
  const chain = [`scale=${width}:${height}:flags=bicubic`, 'setsar=1', 'format=yuv420p'];
  const graph: string[] = [];
  if (frameDivisor > 1) chain.unshift(`select='key+not(mod(n,${frameDivisor}))'`);
  if (overlay === undefined) graph.push(`[0:v:0]${chain.join(',')}[base]`);
  else {
    const { x, y, opacity } = overlay;
    graph.push(
      `[0:v:0]select='gt(t,${markSeconds})',${chain.join(',')}[plain]`,
      `[1:v]setpts=${markSeconds}/TB,format=rgba,scale=${overlay.width}:${overlay.height},colorchannelmixer=aa=${opacity.toFixed(4)}[mark]`,
      `[plain][mark]overlay=x=${x}:y=${y}[base]`,
    );
  }
  graph.push(`[base]split=${rungs.length}${rungs.map((_, index) => `[s${index}]`).join('')}`);
  for (const [index, rung] of rungs.entries()) {
    graph.push(
      `[s${index}]select='gte(t,${rung.fromSeconds.toFixed(4)})',scale=${rung.width}:${rung.height}:flags=bicubic,setsar=1,format=yuv420p[r${index}]`,
    );
  }
  return graph.join(';');
}
