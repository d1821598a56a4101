import type { MediaEvent } from '../../media/samples/media-sample.ts';
import { messageOf } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import { noopIngestObserver } from '../ingest-observer.ts';
import { Publication } from '../publication.ts';
import type { PublishGate } from '../publish-gate.ts';
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
  readonly log: Logger;
}

interface PullOutcome {
  readonly wasLive: boolean;
  /** Reason in plain words. */
  readonly description: string;
}

const maxAnnounced = 16;
/** Time without data after which the session ends. */
const silenceMs = 15_000;
/**
 * Time until the first frame. Some cameras send a keyframe every 10 s only. The gate ends publishers that stop
 * sending frames.
 */
const firstMediaMs = 30_000;
const tickMs = 50;
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
  #publication: Publication | undefined;
  /** Events that precede the first media. */
  #announced: MediaEvent[] = [];
  #bytesIn = 0;
  #isPaused = false;
  #isOver = false;
  #silence: NodeJS.Timeout | undefined;
  #ticks: NodeJS.Timeout | undefined;
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
      this.#ticks = setInterval(() => this.#read(() => this.#publisher.tick()), tickMs);
      this.#input = await this.#open();
      const ended = this.#input?.ended ?? this.#over.promise;
      const description = await Promise.race([this.#over.promise, ended]);
      if (!this.#signal.aborted) this.#publisher.flush();
      return { wasLive: this.wasLive, description };
    } finally {
      this.#isOver = true;
      clearTimeout(this.#silence);
      clearTimeout(this.#firstMedia);
      clearInterval(this.#ticks);
      this.#signal.removeEventListener('abort', abort);
      this.#end('');
      try {
        this.#publication?.end(this.#signal.aborted ? 'unpublished' : 'connection-closed');
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
    this.#read(publish);
  }

  #read(publish: () => void): void {
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
    if (this.#publication !== undefined) this.#publication.media(event);
    else if (isTrack) this.#publish(event);
    else this.#announced = [...this.#announced, event].slice(-maxAnnounced);
  }

  #publish(first: MediaEvent): void {
    const { streamKey, gate, log } = this.#options;
    const session = this;
    const publication = new Publication({
      request: {
        connectionId: newUuid(),
        protocol: 'pull',
        remoteAddress: this.#input?.remoteAddress ?? '',
        streamKey,
        query: '',
        encoder: '',
      },
      gate,
      observer: noopIngestObserver,
      log,
      connection: {
        get bytesIn() {
          return session.#bytesIn;
        },
        end: (description, reason) => this.#end(reason === 'idle-timeout' ? noMedia : description),
        failed: () => this.#end('The source could not be published.'),
        pause: () => this.#pause(),
        resume: () => this.#resume(),
        transport: () => this.#input?.transport?.(),
      },
    });
    this.#publication = publication;
    for (const event of [...this.#announced, first]) publication.media(event);
    void this.#request(publication);
  }

  async #request(publication: Publication): Promise<void> {
    const refusal = await publication.open();
    if (refusal !== undefined) this.#end(refusal.description);
    else if (!this.#isOver) {
      this.wasLive = true;
      this.#options.onLive();
    }
  }

  #pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#silence);
    this.#input?.pause?.();
  }

  #resume(): void {
    this.#isPaused = false;
    this.#expectData();
    this.#input?.resume?.();
  }
}
