import {
  deviceOptions,
  type EncoderDevice,
  encoderInput,
  hardwareOptions,
} from '../hardware/encoder-device.ts';
import type { Overlay } from './encode-options.ts';

interface LiveEncodeRendition {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** Maximum of one second. */
  readonly bitsPerSecond: number;
  readonly fromSeconds: number;
}

export interface LiveEncodeOptions {
  /** Display size, with square pixels. */
  readonly width: number;
  readonly height: number;
  readonly renditions: readonly LiveEncodeRendition[];
  readonly overlay: Overlay | undefined;
  /** Encodes one of so many frames, and every keyframe. */
  readonly frameDivisor: number;
  readonly threads: number;
  readonly maxPixels: number;
  readonly device?: EncoderDevice | undefined;
}

/** GOP length beyond any real one: the encoder sets no keyframes of its own. */
const maxGopFrames = 100_000;
/** Time that ffmpeg gets for 0: publishers can send times down to minus 15 minutes, and Matroska has none below 0. */
export const liveEncodeLeadSeconds = 7200;

/**
 * Decodes Matroska on stdin once and writes each rendition as fragmented MP4, one fragment per frame, to a pipe
 * from descriptor 3 up. Keeps the source's keyframes and times. No lookahead and no B-frames: no frame waits
 * for another.
 */
export function liveEncodeArguments(options: LiveEncodeOptions): string[] {
  const args = [
    ...['-hide_banner', '-nostats', '-loglevel', 'warning', '-copyts', '-threads', '1'],
    ...deviceOptions(options.device),
    // A filter graph that is rebuilt for another format would lose the overlay's only frame.
    ...['-reinit_filter', '0', '-max_pixels', String(options.maxPixels)],
    ...['-analyzeduration', '1000', '-probesize', '32768', '-f', 'matroska', '-i', 'pipe:0'],
  ];
  if (options.overlay !== undefined) args.push('-f', 'png_pipe', '-i', `file:${options.overlay.path}`);
  args.push('-filter_complex_threads', '1', '-filter_complex', filterGraph(options));
  for (const [index, { bitsPerSecond }] of options.renditions.entries()) {
    args.push(
      ...['-map', `[r${index}]`, '-map_metadata', '-1', '-vsync', 'passthrough', '-enc_time_base', '1:1000'],
      ...encoderOptions(options, bitsPerSecond),
      ...['-g', String(maxGopFrames), '-force_key_frames', 'source'],
      // Writes no trailer, as packageArguments explains.
      ...['-f', 'mp4', '-movflags', '+empty_moov+default_base_moof+frag_every_frame+skip_trailer'],
      ...['-flush_packets', '1'],
      `pipe:${3 + index}`,
    );
  }
  return args;
}

function encoderOptions({ device, threads }: LiveEncodeOptions, bitsPerSecond: number): string[] {
  if (device !== undefined)
    return hardwareOptions(device, { isLive: true, bitsPerSecond, bufferBits: bitsPerSecond });
  return [
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-tune', 'zerolatency', '-profile:v', 'high'],
    ...['-threads', String(threads), '-crf', '23', '-maxrate', String(bitsPerSecond)],
    ...['-bufsize', String(bitsPerSecond), '-keyint_min', '1', '-sc_threshold', '0'],
  ];
}

function filterGraph({
  width,
  height,
  renditions,
  overlay,
  frameDivisor,
  device,
}: LiveEncodeOptions): string {
  const chain = [`scale=${width}:${height}:flags=bicubic`, 'setsar=1', 'format=yuv420p'];
  const graph: string[] = [];
  if (frameDivisor > 1) chain.unshift(`select='key+not(mod(n,${frameDivisor}))'`);
  if (overlay === undefined) graph.push(`[0:v:0]${chain.join(',')}[base]`);
  else {
    const { x, y, opacity } = overlay;
    graph.push(
      `[0:v:0]select='gt(t,0)',${chain.join(',')}[plain]`,
      `[1:v]setpts=0,format=rgba,scale=${overlay.width}:${overlay.height},colorchannelmixer=aa=${opacity.toFixed(4)}[mark]`,
      `[plain][mark]overlay=x=${x}:y=${y}[base]`,
    );
  }
  graph.push(`[base]split=${renditions.length}${renditions.map((_, index) => `[s${index}]`).join('')}`);
  for (const [index, rendition] of renditions.entries()) {
    graph.push(
      `[s${index}]select='gte(t,${(liveEncodeLeadSeconds + rendition.fromSeconds).toFixed(4)})',scale=${rendition.width}:${rendition.height}:flags=bicubic,setsar=1,${encoderInput(device)}[r${index}]`,
    );
  }
  return graph.join(';');
}
