/** What the `source` of a new video asks of those who fetch and copy. `Plan` is theirs alone. */
export interface VideoSourceImporter<Plan = unknown> {
  /**
   * Finds out what is to be done for a source, and does nothing yet.
   *
   * @param source an http(s) address, or the id of one of the project's videos
   * @throws AppError `invalid-attribute` with the name `source` when nothing can be done
   */
  plan(projectId: string, source: string): Plan | Promise<Plan>;
  /** Writes down, in the transaction that makes the video, that its source is to come. */
  begin(videoId: string, plan: Plan): void;
}
