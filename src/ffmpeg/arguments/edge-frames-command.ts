import type { BuildCommand } from '../media-tools.ts';
import { mediaOnly, withoutMetadata } from './encode-command.ts';

interface EdgeFramesOptions {
  readonly source: string;
  readonly output: string;
  /** Decoded frames that are left out. */
  readonly skippedFrames: number;
  readonly parameterSetId: number;
  /** ITU-T H.264 (08/2021), profile_idc: 66, 77 or 100. */
  readonly profile: number;
  /** Ten times the level, level_idc. */
  readonly level: number;
  readonly maxBitsPerSecond: number;
  /** Enough for a keyframe. */
  readonly bufferBits: number;
  readonly threads: number;
}

const profiles: Readonly<Record<number, string>> = { 66: 'baseline', 77: 'main', 100: 'high' };

/**
 * Encodes the frames of an H.264 file again, in the order that they are shown in, each at its time. The names of the parameter
 * sets are such that the frames can be put before or after those of the file.
 */
export function edgeFramesCommand(options: EdgeFramesOptions): BuildCommand {
  const { source, output, skippedFrames, parameterSetId, threads } = options;
  return command =>
    command
      .input(`file:${source}`)
      .inputOptions('-threads', String(threads), '-noautorotate', ...mediaOnly)
      .output(`file:${output}`)
      .outputOptions(
        ...['-map', '0:v:0', '-vf', `trim=start_frame=${skippedFrames}`],
        ...[...withoutMetadata, '-vsync', 'passthrough', '-enc_time_base', '1:90000'],
        // Visually the same as the source, without frames that are decoded ahead, which would change the decode times of the copy.
        ...['-c:v', 'libx264', '-preset', 'veryfast', '-threads', String(threads), '-crf', '17'],
        ...['-maxrate', String(options.maxBitsPerSecond), '-bufsize', String(options.bufferBits)],
        ...['-profile:v', profiles[options.profile] ?? 'high', '-level:v', String(options.level / 10)],
        ...['-bf', '0', '-refs', '1', '-g', '250', '-sc_threshold', '0'],
        ...['-x264-params', `sps-id=${parameterSetId}`],
        ...['-movflags', '+empty_moov+default_base_moof+frag_keyframe+skip_trailer', '-f', 'mp4'],
      );
}
