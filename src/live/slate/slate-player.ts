import type { FlvTag } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import type { SlateMedia } from './slate-source.ts';

const tickMs = 40;
/** After a pause of the whole process no more than this is made up for. */
const mostAtOnceMs = 3000;

/** Plays a slate in real time, over and over, as tags with rising times. */
export class SlatePlayer {
  readonly #media: SlateMedia;
  readonly #clock: Clock;
  readonly #emit: (tag: FlvTag) => void;
  readonly #timer: NodeJS.Timeout;
  /** Monotonic time of its first frame. */
  #startMs: number;
  #frames = 0;
  #silences = 0;

  /**
   * @param sinceMs monotonic time of the last media before it: what is missing since then comes at once
   * @param emit hears of every tag, from the next tick on
   */
  constructor(media: SlateMedia, sinceMs: number, clock: Clock, emit: (tag: FlvTag) => void) {
    this.#media = media;
    this.#clock = clock;
    this.#emit = emit;
    this.#startMs = Math.max(sinceMs, clock.monotonicMs() - mostAtOnceMs);
    this.#timer = setInterval(() => this.tick(), tickMs);
  }

  /** Monotonic time at which a tag was due. @param timestampMs of the tag */
  dueMs(timestampMs: number): number {
    return this.#startMs + timestampMs;
  }

  /** Passes on what is due. */
  tick(): void {
    const nowMs = this.#clock.monotonicMs();
    const { shape, frames, audio: sound } = this.#media;
    let dueMs = nowMs - this.#startMs;
    const frameMs = 1000 / shape.framesPerSecond;
    const lateMs = dueMs - this.#frames * frameMs - mostAtOnceMs;
    if (lateMs > 0) {
      this.#startMs += lateMs;
      dueMs -= lateMs;
    }
    if (this.#frames === 0) this.#begin();
    for (;;) {
      const pictureMs = Math.round(this.#frames * frameMs);
      const silenceMs =
        sound === undefined ? Number.POSITIVE_INFINITY : Math.round(this.#silences * sound.frameMs);
      if (Math.min(pictureMs, silenceMs) > dueMs) return;
      if (pictureMs <= silenceMs) {
        this.#emit({ kind: 'video', timestampMs: pictureMs, body: frames[this.#frames % frames.length]! });
        this.#frames += 1;
      } else {
        this.#emit({ kind: 'audio', timestampMs: silenceMs, body: sound!.silence });
        this.#silences += 1;
      }
    }
  }

  /** Nothing comes of it any more. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #begin(): void {
    const { metadata, videoConfig, audio: sound } = this.#media;
    if (metadata !== undefined) this.#emit({ kind: 'script', timestampMs: 0, body: metadata });
    this.#emit({ kind: 'video', timestampMs: 0, body: videoConfig });
    if (sound !== undefined) this.#emit({ kind: 'audio', timestampMs: 0, body: sound.config });
  }
}
