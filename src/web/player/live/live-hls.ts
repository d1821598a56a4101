import type Hls from 'hls.js/dist/hls.light.min.mjs';
import type { HlsConfig } from 'hls.js/dist/hls.light.min.mjs';

/** Parts that wait in the buffer when playback starts. Later, `LatencyControl` decides. */
const startParts = 2;

/** Starts and jumps nearer to the live edge than `PART-HOLD-BACK`, and never in the lead-ins of a new broadcast. */
export function createLiveHls(Build: typeof Hls, config: Partial<HlsConfig>): Hls {
  class LiveHls extends Build {
    override get liveSyncPosition(): number | null {
      const position = super.liveSyncPosition;
      const details = this.latestLevelDetails;
      if (position === null || !details?.live || !details.partTarget) return position;
      const { edge, age, partTarget, fragments, partList } = details;
      const firstMedia = fragments.find(({ gap, relurl }) => !gap && relurl?.startsWith('segment-') === true);
      const firstPart = partList?.find(({ fragment }) => fragment === details.fragmentHint);
      const start = firstMedia?.start ?? firstPart?.start ?? 0;
      const nearest = Math.min(edge - partTarget, edge + age - startParts * partTarget);
      return Math.max(start, nearest);
    }
  }
  return new LiveHls(config);
}
