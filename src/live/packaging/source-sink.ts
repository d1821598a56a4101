import type { TrackKind } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import { sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { LiveObserver } from '../broadcast/ports.ts';
import type { LiveWindow } from '../window/live-window.ts';
import type { AlignedSegmenter } from './aligned-segmenter.ts';
import type { PackagingOutput } from './packaging-output.ts';
import type { Part, SegmentSink } from './segmenter.ts';

interface SourceSinkOptions {
  readonly output: PackagingOutput;
  readonly aligned: readonly AlignedSegmenter[];
  /** The track whose arrival times count. */
  readonly leader: TrackKind;
  /** By our encoder, which makes keyframes where the publisher made them. */
  readonly isEncoded: boolean;
  readonly observer: LiveObserver;
  readonly clock: Clock;
}

export class SourceSink implements SegmentSink {
  readonly #options: SourceSinkOptions;
  readonly #window: LiveWindow;
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

  useKeyframeInterval(seconds: number): void {
    if (this.#options.isEncoded) return;
    for (const window of this.#options.output.renditions.windows) window.useKeyframeInterval(seconds);
  }

  fixPartTarget(seconds: number): void {
    for (const window of this.#options.output.renditions.windows) window.fixPartTarget(seconds);
  }

  openSegment(segment: { startMs: number; isIndependent: boolean }): void {
    const { aligned, clock } = this.#options;
    const arrivedAtMs = clock.nowMs() - (this.#lagMs(segment.startMs) ?? 0);
    const info = this.#window.openSegment({ ...segment, arrivedAtMs });
    this.#endMs = segment.startMs;
    for (const segmenter of aligned) segmenter.segmentOpened(info);
  }

  addPart(part: Part): void {
    const { output, observer, aligned } = this.#options;
    output.partListed(sourceRendition, this.#window.addPart(part));
    this.#lastLagMs = this.#lagMs(part.newestFrameMs);
    if (this.#lastLagMs !== undefined) observer.partListed(this.#lastLagMs);
    this.#endMs += part.durationSeconds * 1000;
    for (const segmenter of aligned) segmenter.partListed(this.#endMs, part.newestFrameMs);
  }

  closeSegment(): void {
    this.#window.closeSegment();
    if (this.#lastLagMs !== undefined) this.#options.observer.segmentListed(this.#lastLagMs);
    for (const segmenter of this.#options.aligned) segmenter.segmentClosed();
  }

  nextSequenceNumber(): number {
    return this.#window.nextSequenceNumber();
  }

  #lagMs(atMs: number): number | undefined {
    return this.#options.output.lagMs(this.#options.leader, atMs);
  }
}
