import type { Transaction } from '../../store/connection.ts';

export interface VideoSourceImporter<Plan = unknown> {
  /** @param source an http or https URL, or the id of one of the project's videos */
  plan(projectId: string, source: string): Plan | Promise<Plan>;
  /** Called in the transaction that adds the video. */
  begin(videoId: string, plan: Plan, transaction: Transaction): Promise<void>;
}
