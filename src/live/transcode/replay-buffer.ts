import type { EncoderTag } from './live-encoder.ts';

const maxBytes = 24 * 1024 * 1024;
const maxMs = 20_000;
/** Presentation times: twice the highest frame divisor. */
const maxTimes = 16;

/** Video from a keyframe on, for replacing an encoder without losing a frame. */
export class ReplayBuffer {
  config: EncoderTag | undefined;
  /** More than the buffer holds came since the last keyframe, so an encoder cannot be replaced until the next. */
  isTruncated = false;
  #tags: EncoderTag[] = [];
  #bytes = 0;
  #reorderMs = 0;
  #newestMs = 0;
  /** Rising presentation times of the newest frames: an encoder still holds the last of them. */
  readonly #risingMs: number[] = [];

  get isEmpty(): boolean {
    return this.#tags.length === 0;
  }

  get tags(): readonly EncoderTag[] {
    return this.#tags;
  }

  get newestMs(): number {
    return this.#newestMs;
  }

  get newestKeyframe(): EncoderTag | undefined {
    return this.#tags.findLast(({ role }) => role === 'keyframe');
  }

  get isFull(): boolean {
    return this.#bytes > maxBytes || this.#newestMs - this.#tags[0]!.shownMs > maxMs;
  }

  /** An encoder outputs a kept frame when the next one arrives. */
  dueMs(frameDivisor: number): number | undefined {
    return this.#risingMs.at(-2 * frameDivisor) ?? this.#risingMs[0];
  }

  /** Puts a frame on the clock of its last keyframe. */
  tagOf(role: 'keyframe' | 'frame', atMs: number, reorderMs: number, body: Buffer): EncoderTag {
    if (role === 'keyframe') {
      this.#reorderMs = reorderMs;
      this.isTruncated = false;
    }
    const shownMs = atMs + reorderMs - this.#reorderMs;
    return { role, atMs, shownMs, reorderMs: this.#reorderMs, body };
  }

  advance(shownMs: number): void {
    if (this.#risingMs.length > 0 && shownMs <= this.#newestMs) return;
    this.#newestMs = shownMs;
    this.#risingMs.push(shownMs);
    if (this.#risingMs.length > maxTimes) this.#risingMs.shift();
  }

  add(tag: EncoderTag): void {
    this.#tags.push(tag);
    this.#bytes += tag.body.length;
  }

  /** Composition offset from a presentation time on. */
  reorderAt(shownMs: number): number | undefined {
    return this.#tags.findLast(tag => tag.role === 'keyframe' && tag.shownMs <= shownMs)?.reorderMs;
  }

  trim(encodedUntilMs: number): void {
    this.#dropBefore(
      this.#tags.findLastIndex(({ role, shownMs }) => role === 'keyframe' && shownMs <= encodedUntilMs),
    );
  }

  /** Starts at a keyframe; without one, empties the buffer. */
  startAt(shownMs: number): void {
    const start = this.#tags.findIndex(tag => tag.role === 'keyframe' && tag.shownMs >= shownMs - 1);
    this.#dropBefore(start < 0 ? this.#tags.length : start);
  }

  clear(): void {
    this.#tags = [];
    this.#bytes = 0;
  }

  #dropBefore(index: number): void {
    if (index <= 0) return;
    for (const { body } of this.#tags.splice(0, index)) this.#bytes -= body.length;
  }
}
