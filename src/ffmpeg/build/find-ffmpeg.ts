import { createRequire } from 'node:module';
import type { EnvironmentVariables } from '../process/child-environment.ts';
import type { BuildVersionCache } from './build-version-cache.ts';
import {
  type BuildSource,
  findBuild,
  formatVersionOfFfmpeg5,
  formatVersionOfFfmpeg5_1,
  formatVersionOfFfmpeg6_1,
} from './find-build.ts';

export interface FfprobeBuild {
  readonly path: string;
  /** As it names itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  readonly source: BuildSource;
}

/** A usable ffmpeg and its capabilities. */
export interface FfmpegBuild extends FfprobeBuild {
  /** Reads HEVC, AV1 and VP9 in FLV (enhanced RTMP): ffmpeg 6.1 or newer. */
  readonly canReadEnhancedFlv: boolean;
  /** Takes `-fps_mode`, which is the only name from version 9 on. */
  readonly hasFpsMode: boolean;
  /** Features that this build lacks, for the log. */
  readonly lacks: readonly string[];
}

/** Assumes the old option name where `hasFpsMode` is missing. */
export type FpsModeSupport = Partial<Pick<FfmpegBuild, 'hasFpsMode'>>;

/**
 * Finds the ffmpeg to use, in the order of {@link findBuild}.
 *
 * @throws AppError `ffmpeg-unusable` when the configured one, or every candidate, does not run
 */
export async function findFfmpeg(
  configuredPath: string | undefined,
  variables: EnvironmentVariables,
  cache?: BuildVersionCache,
): Promise<FfmpegBuild> {
  const build = await findBuild('ffmpeg', configuredPath, variables, embeddedFfmpegPath, cache);
  const { path, version, source, formatVersion } = build;
  const canReadEnhancedFlv = formatVersion >= formatVersionOfFfmpeg6_1;
  const lacks: string[] = [];
  if (!canReadEnhancedFlv) lacks.push('HEVC and AV1 over RTMP (needs ffmpeg 6.1)');
  if (formatVersion < formatVersionOfFfmpeg5)
    lacks.push('SRT', 'GPU encoders', 'safe decoding of media from strangers (it is too old)');
  const hasFpsMode = formatVersion >= formatVersionOfFfmpeg5_1;
  return { path, version, source, canReadEnhancedFlv, hasFpsMode, lacks };
}

/** Finds the ffprobe to use, as {@link findFfmpeg}. The package of the embedded one may be missing. */
export async function findFfprobe(
  configuredPath: string | undefined,
  variables: EnvironmentVariables,
  cache?: BuildVersionCache,
): Promise<FfprobeBuild> {
  const build = await findBuild('ffprobe', configuredPath, variables, embeddedFfprobePath, cache);
  return { path: build.path, version: build.version, source: build.source };
}

export function embeddedFfmpegPath(): string {
  return installedPath('@ffmpeg-installer/ffmpeg');
}

export function embeddedFfprobePath(): string {
  return installedPath('@ffprobe-installer/ffprobe');
}

/** Returns the binary of an installer package for this machine. */
function installedPath(packageName: string): string {
  return (createRequire(import.meta.url)(packageName) as { path: string }).path;
}

/** Renames `-vsync` for a build: ffmpeg 5.1 introduced `-fps_mode`, and ffmpeg 9 removed `-vsync`. */
export function withFpsMode(args: readonly string[], { hasFpsMode = false }: FpsModeSupport): string[] {
  return args.map(arg => (hasFpsMode && arg === '-vsync' ? '-fps_mode' : arg));
}

/**
 * Tells whether a build reads all fragments of a file whose `sidx` has one entry for several of them. The embedded one, of 2018, reads only
 * the first fragment of each entry.
 */
export function canReadGroupedFragments({
  version,
  canReadEnhancedFlv,
}: Pick<FfmpegBuild, 'version' | 'canReadEnhancedFlv'>): boolean {
  return canReadEnhancedFlv || Number(/^n?(\d+)\./.exec(version)?.[1]) >= 5;
}
