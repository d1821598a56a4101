import { compositionOffsetMs, describeVideoTag } from '../../media/flv/flv-tag.ts';
import type { LadderTranscoder } from '../transcode/ladder-transcoder.ts';

const maxWaitingBytes = 12 * 1024 * 1024;
/** Timestamps of the same frame differ by rounding only. */
const frameToleranceMs = 4;

export class LadderInput {
  #ladder: LadderTranscoder | undefined;
  #heldTags: Parameters<LadderTranscoder['write']>[] = [];
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

  write(atMs: number, body: Buffer, isConfig: boolean): void {
    if (this.#isClosed) return;
    const role = isConfig ? 'config' : describeVideoTag(body)?.role;
    if (role === undefined || role === 'other') return;
    if (role === 'keyframe') this.#keyframesMs.push(atMs);
    const tag: Parameters<LadderTranscoder['write']> = [role, atMs, compositionOffsetMs(body), body];
    if (this.#ladder !== undefined) {
      this.#ladder.write(...tag);
      return;
    }
    this.#heldTags.push(tag);
    if (this.#isWaiting) this.#waitingBytes += body.length;
  }

  start(ladder: LadderTranscoder): void {
    this.#ladder = ladder;
    const tags = this.#heldTags;
    this.#heldTags = [];
    for (const tag of tags) ladder.write(...tag);
  }

  close(): void {
    this.#isClosed = true;
    this.#heldTags = [];
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
