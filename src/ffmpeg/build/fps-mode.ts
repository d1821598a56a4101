import type { FfmpegBuild } from './find-ffmpeg.ts';

/** Tells how a build names the option for the timing of frames; the old name where it is not known. */
export type FpsModeSupport = Partial<Pick<FfmpegBuild, 'hasFpsMode'>>;

/** Names `-vsync` as a build does: ffmpeg 5.1 introduced `-fps_mode`, and ffmpeg 9 removed `-vsync`. */
export function withFpsMode(args: readonly string[], { hasFpsMode = false }: FpsModeSupport): string[] {
  return args.map(arg => (hasFpsMode && arg === '-vsync' ? '-fps_mode' : arg));
}
