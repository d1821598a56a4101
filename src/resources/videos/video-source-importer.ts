import type { Transaction } from '../../store/connection.ts';
import type { Clip } from './video.ts';

export interface PlannedVideoSource {
  /** The rest of what was asked for, after what is copied. */
  readonly clip?: Clip | undefined;
  readonly clippedFrom?: string;
}

export interface VideoSourceImporter<Plan extends PlannedVideoSource = PlannedVideoSource> {
  /** @param source an http or https URL, or the id of one of the project's videos */
  plan(projectId: string, source: string, clip: Clip | undefined): Promise<Plan>;
  /** Called in the transaction that adds the video. */
  begin(videoId: string, plan: Plan, transaction: Transaction): Promise<void>;
}
