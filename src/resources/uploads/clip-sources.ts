/** Copies parts of videos. */
export interface ClipSources {
  /** Undefined until the highest quality of the video can be played. */
  secondsOf(videoId: string): Promise<number | undefined>;
  /**
   * Copies a range of a video into a file, from the keyframe at its start or before.
   * @throws AppError `media-refused` when the video is gone
   */
  clipVideo(
    clip: {
      readonly videoId: string;
      readonly range: { readonly startSeconds: number; readonly endSeconds: number };
      readonly path: string;
    },
    signal: AbortSignal,
  ): Promise<WrittenClip>;
}

interface WrittenClip {
  readonly bytes: number;
  /** Time in the file before the start of the range. */
  readonly leadSeconds: number;
}
