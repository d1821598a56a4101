import type { FlvTag } from '../../media/flv/flv-tag.ts';
import { messageOf } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import type { PublisherCloseReason, PublisherSink, PublishGate } from '../publish-gate.ts';
import { TsPublisher } from '../ts-publisher.ts';
import { PullError, type PullEvents, type PullInput } from './pull-input.ts';

export interface PullSessionOptions {
  /** Must not be logged unmasked. */
  readonly streamKey: string;
  readonly gate: PublishGate;
  readonly open: (events: PullEvents, signal: AbortSignal) => Promise<PullInput>;
  /** The first media is published. */
  readonly onLive: () => void;
  readonly onBytes: (count: number) => void;
  /** Without data. */
  readonly silenceMs: number;
}

export interface PullOutcome {
  readonly wasLive: boolean;
  /** In plain words. */
  readonly description: string;
}

const maxHeldTags = 2_000;

/** Pulls a source once, until it ends, fails or `signal` aborts, and publishes it. */
export async function pullOnce(options: PullSessionOptions, signal: AbortSignal): Promise<PullOutcome> {
  const session = new PullSession(options, signal);
  try {
    return await session.run();
  } catch (error) {
    const description = error instanceof PullError ? error.message : `It failed: ${messageOf(error)}`;
    return { wasLive: session.wasLive, description };
  }
}

class PullSession {
  readonly #options: PullSessionOptions;
  readonly #signal: AbortSignal;
  readonly #over = Promise.withResolvers<string>();
  readonly #publisher = new TsPublisher({
    tag: tag => this.#tag(tag),
    refused: description => this.#over.resolve(description),
  });
  #input: PullInput | undefined;
  #sink: PublisherSink | undefined;
  #held: FlvTag[] | undefined = [];
  #bytesIn = 0;
  #isOver = false;
  #silence: NodeJS.Timeout | undefined;
  wasLive = false;

  constructor(options: PullSessionOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<PullOutcome> {
    const abort = () => this.#over.resolve('The source was turned off.');
    this.#signal.addEventListener('abort', abort, { once: true });
    try {
      this.#signal.throwIfAborted();
      this.#expectData();
      this.#input = await this.#options.open(
        {
          bytes: bytes => this.#receive(bytes.length, () => this.#publisher.push(bytes)),
          tag: tag => this.#receive(tag.body.length, () => this.#tag(tag)),
        },
        this.#signal,
      );
      const description = await Promise.race([this.#over.promise, this.#input.ended]);
      if (!this.#signal.aborted) this.#publisher.flush();
      return { wasLive: this.wasLive, description };
    } finally {
      this.#isOver = true;
      clearTimeout(this.#silence);
      this.#signal.removeEventListener('abort', abort);
      this.#over.resolve('');
      try {
        this.#close(this.#signal.aborted ? 'unpublished' : 'connection-closed');
      } finally {
        await this.#input?.stop();
      }
    }
  }

  #receive(bytes: number, publish: () => void): void {
    if (this.#isOver) return;
    this.#bytesIn += bytes;
    this.#options.onBytes(bytes);
    this.#expectData();
    try {
      publish();
    } catch (error) {
      this.#over.resolve(`Its media could not be read: ${messageOf(error)}`);
    }
  }

  #expectData(): void {
    clearTimeout(this.#silence);
    if (this.#isOver) return;
    const seconds = Math.round(this.#options.silenceMs / 1000);
    this.#silence = setTimeout(
      () => this.#over.resolve(`The source sent nothing for ${seconds} s. Check that it is on.`),
      this.#options.silenceMs,
    );
  }

  #tag(tag: FlvTag): void {
    if (this.#sink !== undefined) {
      this.#sink.tag(tag);
      return;
    }
    if (this.#held === undefined) return;
    this.#held.push(tag);
    if (this.#held.length > maxHeldTags) this.#held.shift();
    if (this.#held.length === 1) void this.#publish();
  }

  async #publish(): Promise<void> {
    const { streamKey, gate, onLive } = this.#options;
    const connectionId = newUuid();
    const remoteAddress = this.#input?.remoteAddress ?? '';
    const bytesIn = () => this.#bytesIn;
    const end = (description: string) => this.#over.resolve(description);
    try {
      const decision = await gate.request(
        { connectionId, protocol: 'pull', remoteAddress, streamKey, encoder: '' },
        {
          ...{ connectionId, remoteAddress, refuse: end, close: end },
          get bytesIn() {
            return bytesIn();
          },
          pause: () => this.#pause(),
          resume: () => this.#resume(),
        },
      );
      const held = this.#held ?? [];
      this.#held = undefined;
      if (!decision.accepted) {
        end(decision.description);
        return;
      }
      this.#sink = decision.sink;
      if (this.#isOver) {
        this.#close('connection-closed');
        return;
      }
      this.wasLive = true;
      onLive();
      for (const tag of held) decision.sink.tag(tag);
    } catch (error) {
      end(`It could not be published: ${messageOf(error)}`);
    }
  }

  #pause(): void {
    clearTimeout(this.#silence);
    this.#input?.pause();
  }

  #resume(): void {
    this.#expectData();
    this.#input?.resume();
  }

  #close(reason: PublisherCloseReason): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#held = undefined;
    sink?.closed(reason);
  }
}
