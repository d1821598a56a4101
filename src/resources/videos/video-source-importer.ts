/** Imports the `source` of a new video. `Plan` is private to the importer. */
export interface VideoSourceImporter<Plan = unknown> {
  /**
   * Validates a source and plans its import.
   *
   * @param source an http or https URL, or the id of one of the project's videos
   * @throws AppError `invalid-attribute` with the name `source` when it cannot be imported
   */
  plan(projectId: string, source: string): Plan | Promise<Plan>;
  /** Starts the import, in the transaction that adds the video. */
  begin(videoId: string, plan: Plan): void;
}
