import type { MediaEvent } from '../media/samples/media-sample.ts';
import type { PublisherCloseReason, PublisherSink } from './publish-gate.ts';

const maxHeldBytes = 8 * 1024 ** 2;

/** Pauses a publisher whose protocol cannot wait: holds a few seconds of media, then drops to the next keyframe. */
export class PausableSink implements PublisherSink {
  readonly #sink: PublisherSink;
  #isPaused = false;
  #isDropping = false;
  #held: MediaEvent[] = [];
  #heldBytes = 0;

  constructor(sink: PublisherSink) {
    this.#sink = sink;
  }

  media(event: MediaEvent): void {
    if (this.#isPaused) {
      // Whatever follows needs the rest.
      if (this.#isDropping && event.type === 'sample') return;
      this.#held.push(event);
      this.#heldBytes += bytesOf(event);
      this.#isDropping ||= this.#heldBytes > maxHeldBytes;
      return;
    }
    if (this.#isDropping && event.type === 'sample' && event.kind === 'video') {
      if (!event.isKeyframe) return;
      this.#isDropping = false;
    }
    this.#sink.media(event);
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
      const event = this.#held.shift()!;
      this.#heldBytes -= bytesOf(event);
      this.#sink.media(event);
    }
  }
}

function bytesOf(event: MediaEvent): number {
  return event.type === 'sample' || event.type === 'config' ? event.data.length : 0;
}
