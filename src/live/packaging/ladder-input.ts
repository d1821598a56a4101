import type { CodecConfig, MediaSample } from '../../media/samples/media-sample.ts';
import type { LadderTranscoder } from '../transcode/ladder-transcoder.ts';

const maxWaitingBytes = 12 * 1024 * 1024;
/** Timestamps of the same frame differ by rounding only. */
const frameToleranceMs = 4;

export class LadderInput {
  #ladder: LadderTranscoder | undefined;
  #held: Parameters<LadderTranscoder['write']>[] = [];
  #waitingBytes = 0;
  #isWaiting = true;
  #isClosed: boolean;
  /** Decode times of the keyframes inside the ladder. */
  #keyframesMs: number[] = [];

  constructor(isOpen: boolean) {
    this.#isClosed = !isOpen;
  }

  get isFull(): boolean {
    return this.#waitingBytes > maxWaitingBytes;
  }

  get keyframesMs(): readonly number[] {
    return this.#keyframesMs;
  }

  write(media: MediaSample | CodecConfig, atMs: number): void {
    if (this.#isClosed) return;
    if (media.type === 'sample' && media.isKeyframe) this.#keyframesMs.push(atMs);
    if (this.#ladder !== undefined) {
      this.#ladder.write(media, atMs);
      return;
    }
    this.#held.push([media, atMs]);
    if (this.#isWaiting) this.#waitingBytes += media.data.length;
  }

  start(ladder: LadderTranscoder): void {
    this.#ladder = ladder;
    const held = this.#held;
    this.#held = [];
    for (const each of held) ladder.write(...each);
  }

  close(): void {
    this.#isClosed = true;
    this.#held = [];
  }

  endWait(): boolean {
    const wasFull = this.isFull;
    this.#isWaiting = false;
    this.#waitingBytes = 0;
    return wasFull;
  }

  keyframeEncoded(atMs: number): void {
    this.#keyframesMs = this.#keyframesMs.filter(keyframeMs => keyframeMs > atMs + frameToleranceMs);
  }
}
