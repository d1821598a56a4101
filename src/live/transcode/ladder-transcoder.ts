import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { CodecConfig, MediaSample } from '../../media/samples/media-sample.ts';
import type { Clock } from '../../shared/clock.ts';
import { messageOf } from '../../shared/errors.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';
import { sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type {
  EncoderConfig,
  EncoderEvents,
  EncoderInput,
  EncoderRendition,
  LiveEncoder,
} from './live-encoder.ts';
import { acceptableLagMs, LoadController } from './load-controller.ts';
import { ReplayBuffer } from './replay-buffer.ts';

/** The last two are of renditions that the publisher's encoder sends itself. */
export type RenditionDropReason = 'too-slow' | 'encoder-failed' | 'not-aligned' | 'stopped';

export interface LadderTranscoderEvents {
  track(rendition: string, track: TrackDescription): void;
  /** Complete and in order, across encoders. */
  sample(rendition: string, sample: Sample, atMs: number): void;
  /** Samples from before `fromMs` may still follow. */
  dropped(rendition: string, fromMs: number, reason: RenditionDropReason): void;
  dropCompleted(): void;
  /** Encodes one of so many frames from now on. */
  frameRateChanged(frameDivisor: number): void;
  failed(report: string): void;
  gaveUp(report: string): void;
  backlogCleared(): void;
}

interface LadderTranscoderOptions {
  readonly video: Pick<EncoderConfig, 'width' | 'height' | 'overlay'>;
  /** Lowest first. `source` is never dropped. */
  readonly renditions: readonly EncoderRendition[];
  readonly startEncoder: (config: EncoderConfig, events: EncoderEvents) => LiveEncoder;
  readonly events: LadderTranscoderEvents;
  /** Viewers switch renditions only at a segment's start. */
  readonly willBeginSegment: () => boolean;
  readonly canDropRenditions?: boolean;
  readonly clock: Clock;
}

interface LadderChange {
  apply(): void;
  dropping: string | undefined;
}

const checkIntervalMs = 1000;
/** An encoder with input but without output for this long hangs. */
const stallMs = 8000;
const drainMs = 10_000;
/** Time without output after which an encoder is empty behind the last input. */
const finishStallMs = 2000;
const finishCheckIntervalMs = 200;
const maxFailures = 4;
const failureWindowMs = 60_000;
const frameEndMs = 8;

/**
 * Replaces a failed encoder, and drops renditions or frames on an overloaded machine, without losing other frames.
 * The successor of a failed encoder decodes from a buffered keyframe and continues after the last output frame. An
 * overloaded encoder finishes up to a keyframe, and its successor begins with that.
 */
export class LadderTranscoder {
  readonly #options: LadderTranscoderOptions;
  readonly #buffer = new ReplayBuffer();
  readonly #load = new LoadController();
  readonly #failures: FixedWindows;
  #renditions: readonly EncoderRendition[];
  #encoder: LiveEncoder | undefined;
  readonly #encodedUntilMs = new Map<string, number>();
  #lastInputMs = 0;
  #lastOutputMs = 0;
  #change: LadderChange | undefined;
  /** Input from this presentation time on is for the next encoder. */
  #drainingFromMs: number | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  readonly #checkTimer: NodeJS.Timeout;
  #isOver = false;
  readonly #ended = Promise.withResolvers<void>();

  constructor(options: LadderTranscoderOptions) {
    this.#options = options;
    this.#renditions = options.renditions;
    this.#failures = new FixedWindows({ windowMs: failureWindowMs, maxKeys: 1, clock: options.clock });
    this.#checkTimer = setInterval(() => this.#check(), checkIntervalMs);
  }

  get renditions(): readonly EncoderRendition[] {
    return this.#renditions;
  }

  /** A source that can wait should pause. */
  get isBacklogged(): boolean {
    return this.#load.isBacklogged;
  }

  /** Lag of the slowest rendition behind the output that its input allows, in media time. */
  get lagMs(): number {
    const ends = this.#renditions.map(
      ({ name }) =>
        this.#encodedUntilMs.get(name) ?? this.#buffer.inputs[0]?.shownMs ?? this.#buffer.newestMs,
    );
    const dueMs = this.#buffer.dueMs(this.#load.frameDivisor);
    return ends.length === 0 || dueMs === undefined ? 0 : Math.max(0, dueMs - Math.min(...ends));
  }

  write(media: MediaSample | CodecConfig, atMs: number): void {
    if (this.#isOver || this.#renditions.length === 0) return;
    const buffer = this.#buffer;
    if (media.type === 'config') {
      buffer.config = { role: 'config', atMs, shownMs: atMs, reorderMs: 0, media };
      return;
    }
    const input = buffer.inputOf(media, atMs);
    if (buffer.isEmpty && !media.isKeyframe && !buffer.isTruncated) return;
    this.#lastInputMs = this.#options.clock.monotonicMs();
    buffer.advance(input.shownMs);
    if (buffer.isTruncated) {
      this.#encoder?.write(input);
      if (this.lagMs > acceptableLagMs) this.#overflow();
      return;
    }
    if (media.isKeyframe && this.#drainingFromMs === undefined && this.#canChange()) this.#drain(input);
    buffer.add(input);
    if (buffer.isFull) this.#handleFullBuffer(input);
    else if (this.#drainingFromMs !== undefined) return;
    else if (this.#encoder === undefined) this.#start();
    else this.#encoder.write(input);
  }

  #handleFullBuffer(input: EncoderInput): void {
    if (!this.#keepsUp()) {
      this.#overflow();
      return;
    }
    this.#encoder?.write(input);
    this.#buffer.isTruncated = true;
    this.#buffer.clear();
  }

  #canChange(): boolean {
    if (this.#change === undefined) return false;
    return this.#change.dropping === undefined || this.#options.willBeginSegment();
  }

  #keepsUp(): boolean {
    const hasAll = this.#renditions.every(({ name }) => this.#encodedUntilMs.has(name));
    const isEncoding = this.#encoder !== undefined && this.#drainingFromMs === undefined;
    return hasAll && isEncoding && this.lagMs <= acceptableLagMs;
  }

  async finish(): Promise<void> {
    this.#end();
    if (this.#encoder === undefined) return;
    this.#encoder.finish();
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const timer = setInterval(() => {
      const nowMs = clock.monotonicMs();
      const isStalled = nowMs - Math.max(startedMs, this.#lastOutputMs) > finishStallMs;
      if (isStalled || nowMs - startedMs > drainMs) this.#encoder?.kill();
    }, finishCheckIntervalMs);
    await this.#ended.promise;
    clearInterval(timer);
  }

  async kill(): Promise<void> {
    this.#end();
    if (this.#encoder === undefined) return;
    this.#encoder.kill();
    await this.#ended.promise;
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#checkTimer);
    clearTimeout(this.#drainTimer);
    this.#buffer.clear();
  }

  #start(): void {
    const first = this.#buffer.inputs[0];
    if (first === undefined || this.#renditions.length === 0) return;
    this.#load.restart();
    this.#lastOutputMs = this.#options.clock.monotonicMs();
    const { video, startEncoder, events } = this.#options;
    let encoder: LiveEncoder;
    try {
      encoder = startEncoder(
        {
          ...video,
          frameDivisor: this.#load.frameDivisor,
          first,
          renditions: this.#renditions.map(rendition => this.#continued(rendition)),
        },
        {
          track: (rendition, track) => events.track(rendition, track),
          sample: (rendition, sample, atMs) => {
            if (this.#encoder === encoder) this.#sample(rendition, sample, atMs);
          },
          exited: failure => {
            if (this.#encoder === encoder) this.#exited(failure);
          },
        },
      );
    } catch (error) {
      this.#exited(messageOf(error));
      return;
    }
    this.#encoder = encoder;
    const { config, inputs } = this.#buffer;
    if (config !== undefined) encoder.write({ ...config, atMs: first.atMs });
    for (const input of inputs) encoder.write(input);
  }

  #continued(rendition: EncoderRendition): EncoderRendition {
    const fromMs = this.#encodedUntilMs.get(rendition.name);
    const fromReorderMs = fromMs === undefined ? undefined : this.#buffer.reorderAt(fromMs);
    return { ...rendition, fromMs, fromReorderMs };
  }

  #sample(rendition: string, sample: Sample, atMs: number): void {
    this.#lastOutputMs = this.#options.clock.monotonicMs();
    const endMs = atMs + frameEndMs;
    this.#encodedUntilMs.set(rendition, Math.max(this.#encodedUntilMs.get(rendition) ?? endMs, endMs));
    this.#options.events.sample(rendition, sample, atMs);
    if (!sample.isSync) return;
    const ends = this.#renditions.map(({ name }) => this.#encodedUntilMs.get(name));
    this.#buffer.trim(Math.min(...ends.map(end => end ?? Number.NEGATIVE_INFINITY)));
  }

  #exited(failure: string | undefined): void {
    this.#encoder = undefined;
    this.#buffer.isTruncated = false;
    clearTimeout(this.#drainTimer);
    if (this.#isOver) {
      this.#ended.resolve();
      return;
    }
    if (failure !== undefined) {
      this.#options.events.failed(failure);
      if (!this.#failures.take('failures', maxFailures)) {
        this.#giveUp(failure);
        return;
      }
    }
    const fromMs = this.#drainingFromMs;
    this.#drainingFromMs = undefined;
    if (fromMs !== undefined) {
      this.#change?.apply();
      this.#change = undefined;
      // A killed encoder left its renditions behind: aligned renditions wait for the keyframe.
      this.#buffer.startAt(fromMs);
      this.#encodedUntilMs.clear();
      this.#options.events.dropCompleted();
    }
    this.#start();
  }

  #giveUp(report: string): void {
    this.#end();
    const renditions = this.#renditions;
    this.#renditions = [];
    const { events } = this.#options;
    if (renditions.some(({ name }) => name === sourceRendition)) {
      events.gaveUp(report);
      return;
    }
    for (const { name } of renditions.toReversed()) {
      events.dropped(name, this.#buffer.newestMs + 1, 'encoder-failed');
    }
    events.dropCompleted();
  }

  #check(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const lagMs = this.lagMs;
    if (this.#load.updateBacklog(lagMs)) this.#options.events.backlogCleared();
    if (this.#encoder === undefined) return;
    // A pause of the source, with some frames left inside, is not a fault of the encoder.
    const hasInput = this.#lastInputMs - this.#lastOutputMs > stallMs / 2;
    if (lagMs > 0 && hasInput && nowMs - this.#lastOutputMs > stallMs) {
      this.#lastOutputMs = nowMs;
      this.#encoder.kill();
      this.#encoder = undefined;
      this.#exited(`no output for ${stallMs} ms`);
      return;
    }
    if (this.#change !== undefined) return;
    if (this.#load.isTooSlow(nowMs, lagMs)) this.#reduceLoad();
    // Dropped renditions do not return, since their playlists continue with others.
    else this.#changeDivisor(this.#load.decreasedDivisor(nowMs, lagMs));
  }

  #reduceLoad(): void {
    if (this.#options.canDropRenditions === false) return;
    const top = this.#renditions.findLast(({ name }) => name !== sourceRendition);
    if (top === undefined) {
      this.#changeDivisor(this.#load.increasedDivisor());
      return;
    }
    this.#change = {
      dropping: top.name,
      apply: () => {
        this.#renditions = this.#renditions.filter(rendition => rendition !== top);
        this.#encodedUntilMs.delete(top.name);
      },
    };
  }

  #changeDivisor(divisor: number | undefined): void {
    if (divisor === undefined) return;
    this.#change = {
      dropping: undefined,
      apply: () => {
        this.#load.frameDivisor = divisor;
        this.#options.events.frameRateChanged(divisor);
      },
    };
  }

  #drain(next: EncoderInput): void {
    this.#drainingFromMs = next.shownMs;
    this.#reportDropped(next.shownMs);
    if (this.#encoder === undefined) {
      this.#exited(undefined);
      return;
    }
    this.#encoder.finish();
    this.#drainTimer = setTimeout(() => this.#encoder?.kill(), drainMs);
  }

  /** Skips to the newest keyframe, with less load. */
  #overflow(): void {
    this.#encoder?.kill();
    this.#encoder = undefined;
    if (this.#change === undefined) this.#reduceLoad();
    const newest = this.#buffer.newestKeyframe;
    this.#reportDropped(newest?.shownMs ?? this.#buffer.newestMs);
    // A single GOP can exceed the buffer.
    const isOnlyGop = newest === this.#buffer.inputs[0];
    this.#drainingFromMs = isOnlyGop ? Number.POSITIVE_INFINITY : newest!.shownMs;
    this.#exited(undefined);
  }

  #reportDropped(fromMs: number): void {
    const name = this.#change?.dropping;
    if (this.#change === undefined || name === undefined) return;
    this.#change.dropping = undefined;
    this.#options.events.dropped(name, fromMs, 'too-slow');
  }
}
