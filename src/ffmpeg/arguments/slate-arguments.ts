export interface SlateFormat {
  readonly width: number;
  readonly height: number;
  readonly framesPerSecond: number;
  /** Frames of the slate; only the first is a keyframe. */
  readonly frames: number;
  /**
   * Codec of the stream's video. H.264 keeps its profile, and so the players' decoder; others get the main
   * profile.
   */
  readonly codec: string | undefined;
  readonly audio: { readonly sampleRate: number; readonly channels: number } | undefined;
}

export type SlateInput = 'jpeg_pipe' | 'png_pipe' | 'mp4';

/** Reads an image on stdin and writes H.264 and AAC in FLV to descriptor 3, faster than real time. */
export function slateArguments(format: SlateFormat, input: SlateInput): string[] {
  const { width, height, framesPerSecond, frames, audio } = format;
  const filters = [
    `scale=${width}:${height}:force_original_aspect_ratio=decrease`,
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
    'setsar=1',
    'format=yuv420p',
    `loop=loop=${frames - 1}:size=1:start=0`,
    'settb=1/90000',
    `setpts=N*90000/${framesPerSecond}`,
  ];
  const layout = audio?.channels === 1 ? 'mono' : 'stereo';
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'warning'],
    ...(input === 'mp4' ? ['-skip_frame', 'nokey'] : []),
    ...['-f', input, '-i', 'pipe:0'],
    ...(audio === undefined ? [] : ['-f', 'lavfi', '-i', `anullsrc=r=${audio.sampleRate}:cl=${layout}`]),
    ...['-filter_complex', `[0:v:0]${filters.join(',')}[video]`, '-map', '[video]'],
    ...['-frames:v', String(frames), '-r', String(framesPerSecond), '-c:v', 'libx264', '-preset', 'veryfast'],
    ...profileOf(format.codec),
    ...['-bf', '0', '-g', String(frames), '-sc_threshold', '0', '-crf', '24'],
    ...(audio === undefined ? [] : ['-map', '1:a:0', '-c:a', 'aac', '-b:a', '64k', '-t', '1']),
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
