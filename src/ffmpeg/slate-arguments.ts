/** What a slate is to be like: one short run of pictures that are all the same, with silence beside them. */
export interface SlateShape {
  /** In pixels, both even. */
  readonly width: number;
  readonly height: number;
  readonly frameMs: number;
  /** How many there are; only the first is a keyframe. */
  readonly frames: number;
  readonly sound: { readonly sampleRate: number; readonly channels: number } | undefined;
}

/** What the picture of a slate is read from: a still image, or the fragments of a keyframe. */
export type SlateInput = 'jpeg_pipe' | 'png_pipe' | 'mp4';

/** Arguments that read a picture on stdin and write H.264 and AAC in FLV to descriptor 3: all at once, then they are done. */
export function slateArguments(shape: SlateShape, input: SlateInput): string[] {
  const { width, height, frameMs, frames, sound } = shape;
  const filters = [
    `scale=${width}:${height}:force_original_aspect_ratio=decrease`,
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
    'setsar=1',
    'format=yuv420p',
    `loop=loop=${frames - 1}:size=1:start=0`,
    'settb=1/1000',
    `setpts=N*${frameMs}`,
  ];
  const picture = [
    '-frames:v',
    String(frames),
    '-r',
    `1000/${frameMs}`,
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
  ];
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'warning'],
    // The picture that is wanted is a keyframe; those after it need not be decoded.
    ...(input === 'mp4' ? ['-skip_frame', 'nokey'] : []),
    ...['-f', input, '-i', 'pipe:0'],
    ...(sound === undefined
      ? []
      : [
          '-f',
          'lavfi',
          '-i',
          `anullsrc=r=${sound.sampleRate}:cl=${sound.channels === 1 ? 'mono' : 'stereo'}`,
        ]),
    ...['-filter_complex', `[0:v:0]${filters.join(',')}[picture]`, '-map', '[picture]', ...picture],
    ...['-profile:v', 'main', '-bf', '0', '-g', String(frames), '-sc_threshold', '0', '-crf', '24'],
    ...(sound === undefined ? [] : ['-map', '1:a:0', '-c:a', 'aac', '-b:a', '64k', '-t', '1']),
    ...['-f', 'flv', 'pipe:3'],
  ];
}
