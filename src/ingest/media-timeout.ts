import type { MediaEvent } from '../media/samples/media-sample.ts';
import type {
  PublisherCloseReason,
  PublisherConnection,
  PublisherSink,
  PublishGate,
} from './publish-gate.ts';

/** Ends publishers of any protocol that stay connected, for example by keepalives, without sending audio or video. */
export function withMediaTimeout(gate: PublishGate, timeoutMs: number): PublishGate {
  return {
    request: async (request, connection) => {
      const timeout = new MediaTimeout(connection, timeoutMs);
      const decision = await gate.request(request, timeout.connection);
      return decision.accepted ? { accepted: true, sink: timeout.watch(decision.sink) } : decision;
    },
  };
}

class MediaTimeout {
  /** Nothing is expected while the publisher is paused. */
  readonly connection: PublisherConnection;
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isWatching = false;
  #isPaused = false;

  constructor(connection: PublisherConnection, timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.connection = {
      connectionId: connection.connectionId,
      remoteAddress: connection.remoteAddress,
      get bytesIn() {
        return connection.bytesIn;
      },
      refuse: description => connection.refuse(description),
      close: (description, reason) => connection.close(description, reason),
      pause: () => {
        this.#isPaused = true;
        clearTimeout(this.#timer);
        connection.pause();
      },
      resume: () => {
        this.#isPaused = false;
        this.#expectMedia();
        connection.resume();
      },
      ...(connection.transport === undefined ? {} : { transport: () => connection.transport!() }),
    };
  }

  watch(sink: PublisherSink): PublisherSink {
    this.#isWatching = true;
    this.#expectMedia();
    return {
      media: (event: MediaEvent) => {
        const isTrack = event.type === 'sample' || event.type === 'config';
        if (isTrack && this.#isWatching && !this.#isPaused) this.#timer?.refresh();
        sink.media(event);
      },
      closed: (reason: PublisherCloseReason) => {
        this.#isWatching = false;
        clearTimeout(this.#timer);
        sink.closed(reason);
      },
    };
  }

  #expectMedia(): void {
    clearTimeout(this.#timer);
    if (!this.#isWatching || this.#isPaused) return;
    const seconds = Math.round(this.#timeoutMs / 1000);
    const text = `No audio or video arrived for ${seconds} s. Check the sources in the encoder, then connect again.`;
    this.#timer = setTimeout(() => this.connection.close(text, 'idle-timeout'), this.#timeoutMs);
    this.#timer.unref();
  }
}
