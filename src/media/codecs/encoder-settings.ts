/** x264 and x265 write their settings before the slices of their first keyframe. */
const maxSettingsBytes = 4096;

/**
 * @returns the most frames from one keyframe to the next, which x264 and x265 declare in their first keyframe; infinite
 * where they refresh the picture gradually
 */
export function readKeyframeInterval(keyframe: Buffer): number | undefined {
  const settings = keyframe.toString('latin1', 0, maxSettingsBytes);
  if (!settings.includes('x264 - core') && !settings.includes('x265 (build')) return undefined;
  if (/ intra_refresh=1| intra-refresh /.test(settings)) return Number.POSITIVE_INFINITY;
  const frames = Number(/ keyint=(\d+) /.exec(settings)?.[1]);
  return frames > 0 ? frames : undefined;
}
