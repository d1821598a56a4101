import { describeVideoTag, type FlvTag } from '../media/flv/flv-tag.ts';
import type { PublisherCloseReason, PublisherSink } from './publish-gate.ts';

const maxHeldBytes = 8 * 1024 ** 2;

/** Pauses a publisher whose protocol cannot wait: holds a few seconds of media, then drops to the next keyframe. */
export class PausableSink implements PublisherSink {
  readonly #sink: PublisherSink;
  #isPaused = false;
  #isDropping = false;
  #held: FlvTag[] = [];
  #heldBytes = 0;

  constructor(sink: PublisherSink) {
    this.#sink = sink;
  }

  tag(tag: FlvTag): void {
    const role = tag.kind === 'video' ? describeVideoTag(tag.body)?.role : undefined;
    if (this.#isPaused) {
      // Configurations are needed by whatever follows.
      if (this.#isDropping && role !== 'config') return;
      this.#held.push(tag);
      this.#heldBytes += tag.body.length;
      this.#isDropping ||= this.#heldBytes > maxHeldBytes;
      return;
    }
    if (this.#isDropping && tag.kind === 'video' && role !== 'config') {
      if (role !== 'keyframe') return;
      this.#isDropping = false;
    }
    this.#sink.tag(tag);
  }

  closed(reason: PublisherCloseReason): void {
    this.resume();
    this.#sink.closed(reason);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    // The sink may pause again while it receives what was held.
    while (this.#held.length > 0 && !this.#isPaused) {
      const tag = this.#held.shift()!;
      this.#heldBytes -= tag.body.length;
      this.#sink.tag(tag);
    }
  }
}
