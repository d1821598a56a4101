import type { OpenRendition } from '../index/rendition.ts';

export interface GrowingVideo {
  readonly targetDurationSeconds: number;
  readonly generation: number;
  readonly renditions: ReadonlyMap<string, OpenRendition>;
}

/** Videos that are being encoded, in memory: a restart encodes them again. */
export class GrowingVideos {
  readonly #videos = new Map<string, GrowingVideo>();

  find(videoId: string): GrowingVideo | undefined {
    const video = this.#videos.get(videoId);
    if (video === undefined) return undefined;
    const isShown = [...video.renditions.values()].every(({ segmentCount }) => segmentCount > 0);
    return isShown ? video : undefined;
  }

  show(videoId: string, video: GrowingVideo): () => void {
    this.#videos.set(videoId, video);
    return () => {
      if (this.#videos.get(videoId) === video) this.#videos.delete(videoId);
    };
  }
}
