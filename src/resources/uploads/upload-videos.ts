export interface UploadVideos<View> {
  find(projectId: string, videoId: string): { readonly videoId: string } | undefined;
  /** Creates a video without a source, in the caller's transaction. */
  create(projectId: string, attributes: { readonly title: string }): { readonly videoId: string };
  viewOf(projectId: string, videoId: string, options?: { readonly hidesPrivate: boolean }): View;
}
