import type { Connection, Transaction } from '../../../store/connection.ts';

export interface UploadVideos<View> {
  find(
    projectId: string,
    videoId: string,
    connection?: Connection,
  ): Promise<{ readonly videoId: string } | undefined>;
  /** Creates a video without a source. */
  createNamed(
    projectId: string,
    videoId: string,
    attributes: { readonly title: string },
    transaction: Transaction,
  ): Promise<unknown>;
  viewOf(projectId: string, videoId: string, options: { readonly hidesPrivate: boolean }): Promise<View>;
}
