import { createRequire } from 'node:module';
import type { EnvironmentVariables } from '../process/child-environment.ts';
import type { BuildVersionCache } from './build-version-cache.ts';
import { type BuildSource, findBuild } from './find-build.ts';

/** A usable ffprobe. */
export interface FfprobeBuild {
  readonly path: string;
  /** As it names itself, such as `5.1.9-0+deb12u1`. */
  readonly version: string;
  /** How it was found. */
  readonly source: BuildSource;
}

/**
 * Finds the ffprobe to use, in the order of {@link findBuild}.
 *
 * @param setPath value of the setting, or undefined
 * @param variables of this process; those there are looked for on its PATH
 * @param known programs that need not be asked for their versions
 * @throws AppError `ffmpeg-unusable` when the one that was set, or every candidate, does not run; the package of the embedded one
 *   may be missing
 */
export async function findFfprobe(
  setPath: string | undefined,
  variables: EnvironmentVariables,
  known?: BuildVersionCache,
): Promise<FfprobeBuild> {
  const { path, version, source } = await findBuild(
    'ffprobe',
    setPath,
    variables,
    embeddedFfprobePath,
    known,
  );
  return { path, version, source };
}

/** Where the package keeps its binary for this machine. */
export function embeddedFfprobePath(): string {
  const require = createRequire(import.meta.url);
  return (require('@ffprobe-installer/ffprobe') as { path: string }).path;
}
