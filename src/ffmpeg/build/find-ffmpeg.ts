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

/** A usable ffmpeg and what it can do. */
export interface FfmpegBuild {
  readonly path: string;
  /** As it names itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  /** How it was found. */
  readonly source: BuildSource;
  /** Takes HEVC, AV1 and VP9 in FLV (enhanced RTMP): libavformat 60.16, that is ffmpeg 6.1, or newer. */
  readonly canReadEnhancedFlv: boolean;
  /** Takes `-fps_mode`, and from version 9 on nothing else for it. */
  readonly hasFpsMode: boolean;
  /** For the log: what users of this build miss. */
  readonly lacks: readonly string[];
}

/**
 * Finds the ffmpeg to use, in the order of {@link findBuild}.
 *
 * @param setPath value of the setting, or undefined
 * @param variables of this process; those there are looked for on its PATH
 * @param known programs that need not be asked for their versions
 * @throws AppError `ffmpeg-unusable` when the one that was set, or every candidate, does not run.
 */
export async function findFfmpeg(
  setPath: string | undefined,
  variables: EnvironmentVariables,
  known?: BuildVersionCache,
): Promise<FfmpegBuild> {
  return withAbilities(await findBuild('ffmpeg', setPath, variables, embeddedFfmpegPath, known));
}

/** Where the package keeps its binary for this machine. */
export function embeddedFfmpegPath(): string {
  const require = createRequire(import.meta.url);
  return (require('@ffmpeg-installer/ffmpeg') as { path: string }).path;
}

function withAbilities({ path, version, source, formatVersion }: ProgramBuild): FfmpegBuild {
  const canReadEnhancedFlv = formatVersion >= formatVersionOfFfmpeg6_1;
  const lacks: string[] = [];
  if (!canReadEnhancedFlv) lacks.push('HEVC and AV1 over RTMP (needs ffmpeg 6.1)');
  if (formatVersion < formatVersionOfFfmpeg5)
    lacks.push('SRT', 'GPU encoders', 'safe decoding of media from strangers (it is too old)');
  const hasFpsMode = formatVersion >= formatVersionOfFfmpeg5_1;
  return { path, version, source, canReadEnhancedFlv, hasFpsMode, lacks };
}
