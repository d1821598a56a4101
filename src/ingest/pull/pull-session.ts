import type { MediaEvent } from '../../media/samples/media-sample.ts';
import { messageOf } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import { PausableSink } from '../pausable-sink.ts';
import type { PublisherCloseReason, PublishGate } from '../publish-gate.ts';
import { TsPublisher } from '../ts-publisher.ts';
import { PullError, type PullEvents, type PullInput } from './pull-input.ts';

interface PullSessionOptions {
  /** Must not be logged unmasked. */
  readonly streamKey: string;
  readonly gate: PublishGate;
  readonly open: (events: PullEvents, signal: AbortSignal) => Promise<PullInput>;
  /** The first media is published. */
  readonly onLive: () => void;
  readonly onBytes: (count: number) => void;
}

interface PullOutcome {
  readonly wasLive: boolean;
  /** In plain words. */
  readonly description: string;
}

const maxHeldEvents = 2_000;
/** Without data. */
const silenceMs = 15_000;
/** Until the first frame. Some cameras send a keyframe every 10 s only. The gate ends publishers that stop sending frames. */
const firstMediaMs = 30_000;
const noMedia =
  'The source sends no video or audio, or less than one frame in 30 s. Check its address and its network.';

/** Pulls a source once, until it ends, fails or `signal` aborts, and publishes it. */
export async function pullOnce(options: PullSessionOptions, signal: AbortSignal): Promise<PullOutcome> {
  const session = new PullSession(options, signal);
  try {
    return await session.run();
  } catch (error) {
    const description = error instanceof PullError ? error.message : `The source failed: ${messageOf(error)}`;
    return { wasLive: session.wasLive, description };
  }
}

class PullSession {
  readonly #options: PullSessionOptions;
  readonly #signal: AbortSignal;
  readonly #over = Promise.withResolvers<string>();
  readonly #ending = new AbortController();
  readonly #publisher = new TsPublisher({
    media: event => this.#take(event),
    refused: description => this.#end(description),
  });
  #input: PullInput | undefined;
  #sink: PausableSink | undefined;
  #held: MediaEvent[] | undefined = [];
  #isRequested = false;
  #bytesIn = 0;
  #isPaused = false;
  #isOver = false;
  #silence: NodeJS.Timeout | undefined;
  #firstMedia: NodeJS.Timeout | undefined;
  wasLive = false;

  constructor(options: PullSessionOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<PullOutcome> {
    const abort = () => this.#end('The source was turned off.');
    this.#signal.addEventListener('abort', abort, { once: true });
    try {
      this.#signal.throwIfAborted();
      this.#expectData();
      this.#firstMedia = setTimeout(() => this.#end(noMedia), firstMediaMs);
      this.#input = await this.#open();
      const ended = this.#input?.ended ?? this.#over.promise;
      const description = await Promise.race([this.#over.promise, ended]);
      if (!this.#signal.aborted) this.#publisher.flush();
      return { wasLive: this.wasLive, description };
    } finally {
      this.#isOver = true;
      clearTimeout(this.#silence);
      clearTimeout(this.#firstMedia);
      this.#signal.removeEventListener('abort', abort);
      this.#end('');
      try {
        this.#close(this.#signal.aborted ? 'unpublished' : 'connection-closed');
      } finally {
        await this.#input?.stop();
      }
    }
  }

  /** Undefined when the pull ended meanwhile. */
  async #open(): Promise<PullInput | undefined> {
    try {
      return await this.#options.open(
        {
          bytes: bytes => this.#receive(bytes.length, () => this.#publisher.push(bytes)),
          media: (bytes, read) => this.#receive(bytes, () => read(event => this.#take(event))),
        },
        this.#ending.signal,
      );
    } catch (error) {
      if (this.#ending.signal.aborted) return undefined;
      throw error;
    }
  }

  #end(description: string): void {
    this.#over.resolve(description);
    this.#ending.abort();
  }

  #receive(bytes: number, publish: () => void): void {
    if (this.#isOver) return;
    this.#bytesIn += bytes;
    this.#options.onBytes(bytes);
    this.#expectData();
    try {
      publish();
    } catch (error) {
      this.#end(`The media of the source could not be read: ${messageOf(error)}`);
    }
  }

  #expectData(): void {
    clearTimeout(this.#silence);
    if (this.#isOver || this.#isPaused) return;
    const description = `The source sent nothing for ${silenceMs / 1000} s. Check that it is on.`;
    this.#silence = setTimeout(() => this.#end(description), silenceMs);
  }

  #take(event: MediaEvent): void {
    const isTrack = event.type === 'sample' || event.type === 'config';
    if (isTrack) clearTimeout(this.#firstMedia);
    if (this.#sink !== undefined) {
      this.#sink.media(event);
      return;
    }
    if (this.#held === undefined) return;
    this.#held.push(event);
    if (this.#held.length > maxHeldEvents) this.#held.shift();
    if (this.#isRequested || !isTrack) return;
    this.#isRequested = true;
    void this.#publish();
  }

  async #publish(): Promise<void> {
    const { streamKey, gate, onLive } = this.#options;
    const connectionId = newUuid();
    const input = this.#input;
    const remoteAddress = input?.remoteAddress ?? '';
    const bytesIn = () => this.#bytesIn;
    const end = (description: string) => this.#end(description);
    try {
      const decision = await gate.request(
        {
          ...{ connectionId, protocol: 'pull', remoteAddress, streamKey, query: '', encoder: '' },
          signal: this.#ending.signal,
        },
        {
          ...{ connectionId, remoteAddress, refuse: end },
          close: (description, reason) => end(reason === 'idle-timeout' ? noMedia : description),
          get bytesIn() {
            return bytesIn();
          },
          pause: () => this.#pause(),
          resume: () => this.#resume(),
          ...(input?.transport === undefined ? {} : { transport: () => input.transport!() }),
        },
      );
      const held = this.#held ?? [];
      this.#held = undefined;
      if (!decision.accepted) {
        end(decision.description);
        return;
      }
      this.#sink = new PausableSink(decision.sink);
      if (this.#isPaused) this.#sink.pause();
      if (this.#isOver) {
        this.#close('connection-closed');
        return;
      }
      this.wasLive = true;
      onLive();
      for (const event of held) this.#sink.media(event);
    } catch (error) {
      end(`The source could not be published: ${messageOf(error)}`);
    }
  }

  #pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#silence);
    this.#sink?.pause();
    this.#input?.pause?.();
  }

  #resume(): void {
    this.#isPaused = false;
    this.#expectData();
    this.#sink?.resume();
    this.#input?.resume?.();
  }

  #close(reason: PublisherCloseReason): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#held = undefined;
    sink?.closed(reason);
  }
}
