/** The videos that uploads go to. `View` is the owner's view of a video. */
export interface UploadVideos<View> {
  /** A video of the project that is not discarded. */
  find(projectId: string, videoId: string): { readonly videoId: string } | undefined;
  /** Creates a video without a source, in the caller's transaction. */
  create(projectId: string, attributes: { readonly title: string }): { readonly videoId: string };
  /**
   * @param options `hidesPrivate`: the addresses of a private video open nothing
   * @throws AppError `resource-not-found`
   */
  viewOf(projectId: string, videoId: string, options?: { readonly hidesPrivate: boolean }): View;
}
