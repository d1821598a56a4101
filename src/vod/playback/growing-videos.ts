import type { OpenRendition } from '../index/rendition.ts';

/** A video of which something can be fetched while it is still being encoded. */
export interface GrowingVideo {
  /** For all its playlists, fixed before the first segment is shown. */
  readonly targetDurationSeconds: number;
  /** Part of the names of its segments. */
  readonly generation: number;
  /** By `240p` and the like, or `audio`. */
  readonly renditions: ReadonlyMap<string, OpenRendition>;
}

/** The videos that grow now. In memory: what grew when the server ended is encoded anew. */
export class GrowingVideos {
  readonly #videos = new Map<string, GrowingVideo>();

  /** A video that grows, and of which every rendition has something to show. */
  find(videoId: string): GrowingVideo | undefined {
    const video = this.#videos.get(videoId);
    if (video === undefined) return undefined;
    const isShown = [...video.renditions.values()].every(({ segmentCount }) => segmentCount > 0);
    return isShown ? video : undefined;
  }

  /** Shows a video's renditions while they grow; the returned function ends that. */
  show(videoId: string, video: GrowingVideo): () => void {
    this.#videos.set(videoId, video);
    return () => {
      if (this.#videos.get(videoId) === video) this.#videos.delete(videoId);
    };
  }
}
