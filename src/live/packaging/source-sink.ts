import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { Clock } from '../../shared/clock.ts';
import { sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { LiveObserver } from '../broadcast/ports.ts';
import { maxTargetDurationSeconds } from '../broadcast/target-durations.ts';
import type { LiveWindow } from '../window/live-window.ts';
import type { AlignedSegmenter } from './aligned-segmenter.ts';
import type { PackagingOutput } from './packaging-output.ts';
import type { Part, SegmentSink } from './segmenter.ts';

interface SourceSinkOptions {
  readonly output: PackagingOutput;
  readonly aligned: readonly AlignedSegmenter[];
  /** The track whose arrival times count. */
  readonly leader: TrackKind;
  readonly observer: LiveObserver;
  readonly clock: Clock;
}

/** Media before the target duration is known: at least 3 s at the highest bitrate. */
const maxWaitingBytes = 48 * 1024 * 1024;

/** Lists the source's segments. Those that come before the target duration is fixed wait for it. */
export class SourceSink implements SegmentSink {
  readonly #options: SourceSinkOptions;
  readonly #window: LiveWindow;
  #waitingSteps: (() => void)[] = [];
  #waitingParts = 0;
  #waitingBytes = 0;
  #lastLagMs: number | undefined;
  #endMs = 0;

  constructor(options: SourceSinkOptions) {
    this.#options = options;
    this.#window = options.output.renditions.source.window;
  }

  get partTargetSeconds(): number | undefined {
    return this.#window.partTargetSeconds;
  }

  get targetDurationSeconds(): number {
    return this.#window.targetDurationSeconds;
  }

  get isTargetDurationFixed(): boolean {
    return this.#window.isTargetDurationFixed;
  }

  useKeyframeInterval(seconds: number): void {
    for (const window of this.#options.output.renditions.windows) window.useKeyframeInterval(seconds);
    const steps = this.#waitingSteps;
    this.#waitingSteps = [];
    this.#waitingParts = 0;
    this.#waitingBytes = 0;
    for (const step of steps) step();
  }

  fixPartTarget(seconds: number): void {
    for (const window of this.#options.output.renditions.windows) window.fixPartTarget(seconds);
  }

  openSegment(segment: { startMs: number; isIndependent: boolean }): void {
    const { clock, output, leader } = this.#options;
    const nowMs = clock.nowMs();
    const lagMs = output.lagMs(leader, segment.startMs) ?? 0;
    const arrivedAtMs = nowMs - lagMs;
    const recordedByMs = nowMs - Math.max(lagMs, output.recordedLagMs(leader, segment.startMs) ?? 0);
    this.#listOrWait(() => {
      const info = this.#window.openSegment({ ...segment, arrivedAtMs, recordedByMs });
      this.#endMs = segment.startMs;
      for (const segmenter of this.#options.aligned) segmenter.segmentOpened(info);
    });
  }

  addPart(part: Part): void {
    if (this.isTargetDurationFixed) {
      this.#listPart(part);
      this.#lastLagMs = this.#lagMs(part.newestFrameMs);
      if (this.#lastLagMs !== undefined) this.#options.observer.partListed(this.#lastLagMs);
      return;
    }
    this.#waitingParts += 1;
    this.#waitingBytes += part.body.length;
    // The data of its samples is valid only now.
    this.#waitingSteps.push(() => this.#listPart({ ...part, runs: undefined }));
    if (this.#waitingBytes > maxWaitingBytes) this.useKeyframeInterval(maxTargetDurationSeconds);
  }

  closeSegment(): void {
    this.#listOrWait(() => {
      this.#window.closeSegment();
      if (this.#lastLagMs !== undefined) this.#options.observer.segmentListed(this.#lastLagMs);
      for (const segmenter of this.#options.aligned) segmenter.segmentClosed();
    });
  }

  nextSequenceNumber(): number {
    return this.#window.nextSequenceNumber() + this.#waitingParts;
  }

  #listOrWait(step: () => void): void {
    if (this.isTargetDurationFixed) step();
    else this.#waitingSteps.push(step);
  }

  #listPart(part: Part): void {
    const { output, aligned } = this.#options;
    output.partListed(sourceRendition, this.#window.addPart(part));
    this.#endMs += part.durationSeconds * 1000;
    for (const segmenter of aligned) segmenter.partListed(this.#endMs, part.newestFrameMs);
  }

  #lagMs(atMs: number): number | undefined {
    return this.#options.output.lagMs(this.#options.leader, atMs);
  }
}
