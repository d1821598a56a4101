import { type MediaEvent, type MediaSample, ticksPerMs } from '../../media/samples/media-sample.ts';
import type { Clock } from '../../shared/clock.ts';
import type { SlateMedia } from './slate-source.ts';

const tickMs = 40;
/** Maximum after a pause of the whole process. */
const maxCatchUpMs = 3000;

export class SlatePlayer {
  readonly #media: SlateMedia;
  readonly #clock: Clock;
  readonly #emit: (event: MediaEvent) => void;
  readonly #timer: NodeJS.Timeout;
  #startMs: number;
  #frames = 0;
  #silences = 0;

  /** @param sinceMs monotonic time of the last media; the time since then is filled at once */
  constructor(media: SlateMedia, sinceMs: number, clock: Clock, emit: (event: MediaEvent) => void) {
    this.#media = media;
    this.#clock = clock;
    this.#emit = emit;
    this.#startMs = Math.max(sinceMs, clock.monotonicMs() - maxCatchUpMs);
    this.#timer = setInterval(() => this.tick(), tickMs);
  }

  /** Monotonic. */
  dueMs(timestampMs: number): number {
    return this.#startMs + timestampMs;
  }

  tick(): void {
    const nowMs = this.#clock.monotonicMs();
    const { shape, frames, audio } = this.#media;
    let dueMs = nowMs - this.#startMs;
    const frameMs = 1000 / shape.framesPerSecond;
    const lateMs = dueMs - this.#frames * frameMs - maxCatchUpMs;
    if (lateMs > 0) {
      this.#startMs += lateMs;
      dueMs -= lateMs;
    }
    if (this.#frames === 0) this.#begin();
    for (;;) {
      const videoMs = Math.round(this.#frames * frameMs);
      const audioMs =
        audio === undefined ? Number.POSITIVE_INFINITY : Math.round(this.#silences * audio.frameMs);
      if (Math.min(videoMs, audioMs) > dueMs) return;
      if (videoMs <= audioMs) {
        this.#emit(sampleAt(frames[this.#frames % frames.length]!, videoMs));
        this.#frames += 1;
      } else {
        this.#emit(sampleAt(audio!.silence, audioMs));
        this.#silences += 1;
      }
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #begin(): void {
    const { declared, videoConfig, audio } = this.#media;
    if (declared !== undefined) this.#emit({ type: 'declared', media: declared });
    this.#emit(videoConfig);
    if (audio !== undefined) this.#emit(audio.config);
  }
}

function sampleAt(sample: MediaSample, atMs: number): MediaSample {
  const dtsTicks = atMs * ticksPerMs;
  return { ...sample, dtsTicks, ptsTicks: dtsTicks + sample.ptsTicks - sample.dtsTicks };
}
