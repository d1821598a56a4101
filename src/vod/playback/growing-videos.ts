import type { OpenRendition } from '../index/rendition.ts';

/** A video that can be watched while it is encoded. */
export interface GrowingVideo {
  /** For all playlists, fixed before the first segment is served. */
  readonly targetDurationSeconds: number;
  /** Part of the names of segments. */
  readonly generation: number;
  /** By name, such as `240p` or `audio`. */
  readonly renditions: ReadonlyMap<string, OpenRendition>;
}

/** The videos that are growing. Kept in memory: a restart encodes them again. */
export class GrowingVideos {
  readonly #videos = new Map<string, GrowingVideo>();

  /** Finds a growing video whose renditions all have a segment. */
  find(videoId: string): GrowingVideo | undefined {
    const video = this.#videos.get(videoId);
    if (video === undefined) return undefined;
    const isShown = [...video.renditions.values()].every(({ segmentCount }) => segmentCount > 0);
    return isShown ? video : undefined;
  }

  /** Shows growing renditions until the returned function is called. */
  show(videoId: string, video: GrowingVideo): () => void {
    this.#videos.set(videoId, video);
    return () => {
      if (this.#videos.get(videoId) === video) this.#videos.delete(videoId);
    };
  }
}
