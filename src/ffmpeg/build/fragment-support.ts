import type { FfmpegBuild } from './find-ffmpeg.ts';

const leastMajor = 5;

/**
 * Whether a build reads all of a file of fragments whose `sidx` has entries for groups of them. The embedded one, of 2018, goes from
 * entry to entry, and reads the first fragment of each alone.
 */
export function canReadGroupedFragments({
  version,
  canReadEnhancedFlv,
}: Pick<FfmpegBuild, 'version' | 'canReadEnhancedFlv'>): boolean {
  const major = Number(/^n?(\d+)\./.exec(version)?.[1]);
  return canReadEnhancedFlv || major >= leastMajor;
}
