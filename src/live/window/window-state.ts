import type { MemorySegment } from './segment-store.ts';

/** Progress of a live window. Only {@link LiveWindow} changes it. */
export class WindowState {
  targetDurationSeconds: number;
  partTargetSeconds: number | undefined;
  openSegment: MemorySegment | undefined;
  /** The first lead-in. */
  firstSequence: number;
  leadInCount: number;
  /** The open segment, or the next one that opens. */
  nextSequence: number;
  nextPartNumber: number;
  isEnded = false;
  endsWithFiller = false;

  readonly #firstPartNumber: number;

  constructor(
    targetDurationSeconds: number,
    firstSequence: number,
    leadInCount: number,
    firstPartNumber: number,
  ) {
    this.#firstPartNumber = firstPartNumber;
    this.nextPartNumber = firstPartNumber;
    this.targetDurationSeconds = targetDurationSeconds;
    this.firstSequence = firstSequence;
    this.leadInCount = leadInCount;
    this.nextSequence = firstSequence + leadInCount;
  }

  get isPlayable(): boolean {
    return this.nextPartNumber > this.#firstPartNumber;
  }

  get firstMediaSequence(): number {
    return this.firstSequence + this.leadInCount;
  }

  get openPartCount(): number {
    return this.openSegment?.parts.length ?? 0;
  }
}
