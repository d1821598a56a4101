/** Times of a live stream that the browser plays itself. */
export class NativeTimeline {
  readonly #video: HTMLVideoElement & { getStartDate?(): Date };

  constructor(video: HTMLVideoElement) {
    this.#video = video;
  }

  get start(): number | undefined {
    const { seekable } = this.#video;
    return seekable.length === 0 ? undefined : seekable.start(0);
  }

  get edge(): number {
    const { seekable } = this.#video;
    return seekable.length === 0 ? 0 : seekable.end(seekable.length - 1);
  }

  /** Unix time of position 0. */
  get startMs(): number | undefined {
    const startMs = this.#video.getStartDate?.().getTime();
    return startMs === undefined || Number.isNaN(startMs) ? undefined : startMs;
  }

  /** Date of the frame that is shown. */
  get date(): Date | null {
    const { startMs } = this;
    return startMs === undefined ? null : new Date(startMs + this.#video.currentTime * 1000);
  }
}
