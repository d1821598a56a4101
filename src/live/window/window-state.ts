import type { MemorySegment } from './segment-store.ts';

/** The numbers that a live window has reached. Only its {@link LiveWindow} changes them. */
export class WindowState {
  /** Does not change once it is known. */
  partTargetSeconds: number | undefined;
  openSegment: MemorySegment | undefined;
  /** Number of the first lead-in. */
  firstSequence: number;
  leadInCount: number;
  /** Number of the open segment, or of the next one that opens. */
  nextSequence: number;
  nextPartNumber = 0;
  isEnded = false;
  /** The newest segment is a still. */
  endsWithStill = false;

  constructor(firstSequence: number, leadInCount: number) {
    this.firstSequence = firstSequence;
    this.leadInCount = leadInCount;
    this.nextSequence = firstSequence + leadInCount;
  }

  get isPlayable(): boolean {
    return this.nextPartNumber > 0;
  }

  /** Number of the first segment that came from a publisher. */
  get firstMediaSequence(): number {
    return this.firstSequence + this.leadInCount;
  }

  get openPartCount(): number {
    return this.openSegment?.parts.length ?? 0;
  }
}
