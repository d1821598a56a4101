import type Hls from 'hls.js';
import type { Events, FragLoadingData, HlsConfig } from 'hls.js';

/** The timeline controller of hls.js 1.7, which declares it private. */
interface TimelineController {
  lastSn: number;
  lastCc: number;
  lastPartIndex: number;
  onFragLoading(event: Events.FRAG_LOADING, data: FragLoadingData): void;
}

/**
 * A CEA-608 caption takes longer than a part, and hls.js 1.7 drops open captions when it loads another part of the same
 * segment. The light build has no captions.
 */
export function keepCaptionsBetweenParts(Build: typeof Hls): Partial<HlsConfig> {
  const { timelineController } = Build.DefaultConfig;
  if (timelineController === undefined) return {};
  const Controller = timelineController as unknown as new (hls: Hls) => TimelineController;
  class PartTimelineController extends Controller {
    override onFragLoading(event: Events.FRAG_LOADING, data: FragLoadingData): void {
      const { frag, part } = data;
      const isSameSegment = frag.type === 'main' && frag.sn === this.lastSn && frag.cc === this.lastCc;
      // Makes it look like the first part of the next segment.
      if (isSameSegment && part !== null && part !== undefined && part.index > this.lastPartIndex)
        this.lastSn -= 1;
      super.onFragLoading(event, data);
    }
  }
  return { timelineController: PartTimelineController as unknown as typeof timelineController };
}
