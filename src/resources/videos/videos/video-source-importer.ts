import type { Transaction } from '../../../store/connection.ts';
import type { Clip, VideoAttributes } from './video.ts';

export interface PlannedVideoSource {
  /** The part of the source that is wanted. */
  readonly clip?: Clip | undefined;
  readonly clippedFrom?: string;
  /** The video or live stream of the project that its media comes from. */
  readonly copiedFrom?: string;
  /** Set when files of the video are stored already. */
  readonly origin?: { readonly videoId: string; readonly liveStreamId: string };
}

export interface VideoSourceImporter<Plan extends PlannedVideoSource = PlannedVideoSource> {
  /** Returns the id of the video when another server has the source, and created the video. */
  createElsewhere?(
    projectId: string,
    source: string,
    attributes: VideoAttributes,
  ): Promise<string | undefined>;
  /** @param source an http or https URL, or the id of one of the project's videos or live streams */
  plan(projectId: string, source: string, clip: Clip | undefined): Promise<Plan>;
  /** Called in the transaction that adds the video. */
  begin(videoId: string, plan: Plan, transaction: Transaction): Promise<void>;
  /** Call this when the video could not be added. */
  abandon?(plan: Plan): Promise<void>;
}
