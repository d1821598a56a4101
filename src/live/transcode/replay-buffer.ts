import { compositionMs, type MediaSample } from '../../media/samples/media-sample.ts';
import type { EncoderInput } from './live-encoder.ts';

const maxBytes = 24 * 1024 * 1024;
const maxMs = 20_000;
/** Presentation times: twice the highest frame divisor. */
const maxTimes = 16;

/** Video from a keyframe on, for replacing an encoder without losing a frame. */
export class ReplayBuffer {
  config: EncoderInput | undefined;
  /**
   * True when more than the buffer holds came since the last keyframe, so an encoder cannot be replaced until the
   * next.
   */
  isTruncated = false;
  #inputs: EncoderInput[] = [];
  #bytes = 0;
  #reorderMs = 0;
  #newestMs = 0;
  /** Rising presentation times of the newest frames: an encoder still holds the last of them. */
  readonly #risingMs: number[] = [];

  get isEmpty(): boolean {
    return this.#inputs.length === 0;
  }

  get inputs(): readonly EncoderInput[] {
    return this.#inputs;
  }

  get newestMs(): number {
    return this.#newestMs;
  }

  get newestKeyframe(): EncoderInput | undefined {
    return this.#inputs.findLast(({ role }) => role === 'keyframe');
  }

  get isFull(): boolean {
    return this.#bytes > maxBytes || this.#newestMs - this.#inputs[0]!.shownMs > maxMs;
  }

  /** An encoder outputs a kept frame when the next one arrives. */
  dueMs(frameDivisor: number): number | undefined {
    return this.#risingMs.at(-2 * frameDivisor) ?? this.#risingMs[0];
  }

  /** Puts a frame on the clock of its last keyframe. */
  inputOf(sample: MediaSample, atMs: number): EncoderInput {
    const role = sample.isKeyframe ? 'keyframe' : 'frame';
    const reorderMs = compositionMs(sample);
    if (role === 'keyframe') {
      this.#reorderMs = reorderMs;
      this.isTruncated = false;
    }
    const shownMs = atMs + reorderMs - this.#reorderMs;
    return { role, atMs, shownMs, reorderMs: this.#reorderMs, media: sample };
  }

  advance(shownMs: number): void {
    if (this.#risingMs.length > 0 && shownMs <= this.#newestMs) return;
    this.#newestMs = shownMs;
    this.#risingMs.push(shownMs);
    if (this.#risingMs.length > maxTimes) this.#risingMs.shift();
  }

  add(input: EncoderInput): void {
    this.#inputs.push(input);
    this.#bytes += input.media.data.length;
  }

  /** Composition offset from a presentation time on. */
  reorderAt(shownMs: number): number | undefined {
    return this.#inputs.findLast(input => input.role === 'keyframe' && input.shownMs <= shownMs)?.reorderMs;
  }

  trim(encodedUntilMs: number): void {
    this.#dropBefore(
      this.#inputs.findLastIndex(({ role, shownMs }) => role === 'keyframe' && shownMs <= encodedUntilMs),
    );
  }

  /** Starts at a keyframe; without one, empties the buffer. */
  startAt(shownMs: number): void {
    const start = this.#inputs.findIndex(input => input.role === 'keyframe' && input.shownMs >= shownMs - 1);
    this.#dropBefore(start < 0 ? this.#inputs.length : start);
  }

  clear(): void {
    this.#inputs = [];
    this.#bytes = 0;
  }

  #dropBefore(index: number): void {
    if (index <= 0) return;
    for (const { media } of this.#inputs.splice(0, index)) this.#bytes -= media.data.length;
  }
}
