/** Formats with discontinuous clocks: ffmpeg itself shifts the earliest stream that is read to zero, and takes jumps for a new clock. */
export const discontinuousFormats: readonly string[] = ['mpegts', 'mpeg', 'ogg', 'nut'];

/** `steady`: never starts again, but has jumps or delays that ffmpeg would take for a new clock. `changing`: starts again. */
export type SurveyedClock =
  | { readonly kind: 'usual' }
  | {
      readonly kind: 'steady';
      /** First presentation time of each stream, by its index. */
      readonly startSeconds: ReadonlyMap<number, number>;
    }
  | { readonly kind: 'changing'; readonly durationSeconds: number };

/** ffmpeg takes longer jumps for a new clock (`dts_delta_threshold`, 10 s). The margin is for its guess of the last frame's duration. */
const jumpSeconds = 9;
/** Before version 6, ffmpeg takes decode times this long before the presentation for a new clock. */
const delaySeconds = 0.1;
/** Times of audio within a packet are estimated by the first sample rate, and can end later than the next packet begins. */
const maxEstimateSeconds = 1;
/** A longer jump of the only video comes from a new clock. */
const maxStillSeconds = 600;
const packetLine = /^(\d+),(N\/A|-?[\d.]+),(N\/A|-?[\d.]+)/;

/**
 * Reads the times of all packets, as ffprobe prints them (`stream,pts,dts`). A jump of one stream while others go on, or of the only video, is
 * a picture that stands still; a jump of all streams, or backwards, is a new clock.
 */
export class ClockSurvey {
  readonly #isVideo: ReadonlyMap<number, boolean>;
  /** Last decode times. */
  readonly #lastSeconds = new Map<number, number>();
  readonly #startSeconds = new Map<number, number>();
  /** Moves the times of the current clock to where those of the one before ended. */
  #offsetSeconds = 0;
  /** Latest presentation time so far. */
  #frontSeconds: number | undefined;
  #isChanging = false;
  #isUsual = true;

  /** @param isVideo by index, for the streams that are played */
  constructor(isVideo: ReadonlyMap<number, boolean>) {
    this.#isVideo = isVideo;
  }

  takeLine(line: string): void {
    const [, index, pts, dts] = packetLine.exec(line) ?? [];
    const stream = Number(index);
    const isVideo = this.#isVideo.get(stream);
    const ptsSeconds = Number(pts === 'N/A' ? dts : pts);
    const dtsSeconds = Number(dts === 'N/A' ? pts : dts);
    if (isVideo !== undefined && Number.isFinite(ptsSeconds + dtsSeconds)) {
      this.#take(stream, isVideo, ptsSeconds, dtsSeconds);
    }
  }

  get clock(): SurveyedClock {
    const startSeconds = this.#startSeconds;
    if (this.#isChanging) {
      const durationSeconds = this.#frontSeconds! - Math.min(...startSeconds.values());
      return { kind: 'changing', durationSeconds };
    }
    return this.#isUsual ? { kind: 'usual' } : { kind: 'steady', startSeconds };
  }

  #take(stream: number, isVideo: boolean, ptsSeconds: number, dtsSeconds: number): void {
    const delay = ptsSeconds - dtsSeconds;
    const last = this.#lastSeconds.get(stream);
    let at = dtsSeconds + this.#offsetSeconds;
    const front = this.#frontSeconds ?? at;
    const isAlone = isVideo && (last === undefined ? 0 : 1) === this.#lastSeconds.size;
    const isAhead = at - front > (isAlone ? maxStillSeconds : jumpSeconds);
    const back = (last ?? at) - at;
    if (isAhead || back > (isVideo ? delaySeconds : maxEstimateSeconds)) {
      this.#isChanging = true;
      const moved = (last ?? front) - at;
      this.#offsetSeconds += moved;
      at += moved;
    } else if (
      Math.abs(at - (last ?? front)) > jumpSeconds ||
      Math.max(back, last === undefined ? delay : 0) > delaySeconds
    ) {
      this.#isUsual = false;
    }
    const shown = ptsSeconds + this.#offsetSeconds;
    this.#lastSeconds.set(stream, at);
    this.#frontSeconds = Math.max(front, shown);
    this.#startSeconds.set(stream, Math.min(shown, this.#startSeconds.get(stream) ?? shown));
  }
}
