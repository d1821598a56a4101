/** What a slate is to be like: one short run of pictures that are all the same, with silence beside them. */
export interface SlateFormat {
  /** In pixels, both even. */
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  /** How many there are; only the first is a keyframe. */
  readonly frames: number;
  /** What the stream says of its H.264, so that players need no other decoder: `avc1` and six digits; another profile otherwise. */
  readonly codec: string | undefined;
  readonly audio: { readonly sampleRate: number; readonly channels: number } | undefined;
}

/** What the picture of a slate is read from: a still image, or the fragments of a keyframe. */
export type SlateInput = 'jpeg_pipe' | 'png_pipe' | 'mp4';

/** Arguments that read a picture on stdin and write H.264 and AAC in FLV to descriptor 3: all at once, then they are done. */
export function slateArguments(shape: SlateFormat, input: SlateInput): string[] {
  const { width, height, framesPerSecond, frames, audio: sound } = shape;
  const filters = [
    `scale=${width}:${height}:force_original_aspect_ratio=decrease`,
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
    'setsar=1',
    'format=yuv420p',
    `loop=loop=${frames - 1}:size=1:start=0`,
    'settb=1/90000',
    `setpts=N*90000/${framesPerSecond}`,
  ];
  const picture = [
    '-frames:v',
    String(frames),
    '-r',
    String(framesPerSecond),
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
    ...profileOf(shape.codec),
    ...['-bf', '0', '-g', String(frames), '-sc_threshold', '0', '-crf', '24'],
    ...(sound === undefined ? [] : ['-map', '1:a:0', '-c:a', 'aac', '-b:a', '64k', '-t', '1']),
    ...['-f', 'flv', 'pipe:3'],
  ];
}

const profiles: Readonly<Record<string, string>> = { '42': 'baseline', '4d': 'main', '64': 'high' };

/** **Source**: RFC 6381, 3.3: profile, constraints and level of H.264 in hexadecimal, the level times ten. */
function profileOf(codec: string | undefined): string[] {
  const [, profile = '', level = ''] =
    /^avc1\.([0-9a-f]{2})[0-9a-f]{2}([0-9a-f]{2})$/i.exec(codec ?? '') ?? [];
  const named = profiles[profile.toLowerCase()];
  if (named === undefined) return ['-profile:v', 'main'];
  return ['-profile:v', named, '-level:v', String(Number.parseInt(level, 16) / 10)];
}
