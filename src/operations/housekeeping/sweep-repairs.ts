import type { TextTrackRow } from '../../store/media-tables.ts';
import type { LostRendition } from './video-findings.ts';

/** Corrects rows by the files on the disk, through the stores that own the rows. */
export interface SweepRepairs {
  transaction(work: () => void): void;
  repairEncoding(
    videoId: string,
    repair: {
      readonly lost: readonly (Pick<LostRendition, 'type' | 'quality'> & { readonly isRebuilt: boolean })[];
      readonly found: readonly Pick<LostRendition, 'type' | 'quality'>[];
      readonly isUnfinished: boolean;
      readonly isStoryboardLost: boolean;
      readonly hasSource: boolean;
    },
  ): void;
  removeTextTrack(videoId: string, track: Pick<TextTrackRow, 'kind' | 'language'>): void;
  clearVideoThumbnail(videoId: string): void;
  clearLogo(playerId: string): void;
  clearLiveThumbnail(liveStreamId: string): void;
  removeWatermark(watermarkId: string): void;
}
