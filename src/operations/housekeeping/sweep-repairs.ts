import type { Transaction } from '../../store/connection.ts';
import type { Row } from '../../store/tables.ts';
import type { LostRendition, VideoFindings } from './video-findings.ts';

/** Corrects rows by the files on the disk, through the stores that own the rows. */
export interface SweepRepairs {
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  repairEncoding(
    videoId: string,
    repair: {
      readonly lost: readonly (Pick<LostRendition, 'type' | 'quality'> & { readonly isRebuilt: boolean })[];
      readonly lostCodecRenditions: VideoFindings['lostCodecRenditions'];
      readonly found: readonly Pick<LostRendition, 'type' | 'quality'>[];
      readonly isUnfinished: boolean;
      readonly isStoryboardLost: boolean;
      readonly hasSource: boolean;
    },
    transaction: Transaction,
  ): Promise<void>;
  removeTextTrack(
    videoId: string,
    track: Pick<Row<'text_tracks'>, 'kind' | 'language'>,
    transaction: Transaction,
  ): Promise<void>;
  clearVideoThumbnail(videoId: string, transaction: Transaction): Promise<void>;
  clearLogo(playerId: string): Promise<void>;
  clearLiveThumbnail(liveStreamId: string): Promise<void>;
  removeWatermark(watermarkId: string): Promise<void>;
}
