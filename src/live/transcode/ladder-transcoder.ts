import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { Clock } from '../../shared/clock.ts';
import { messageOf } from '../../shared/errors.ts';
import { SlidingWindowLimit } from '../../shared/sliding-window-limit.ts';
import { sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import { LagMonitor } from './lag-monitor.ts';
import type {
  EncoderConfig,
  EncoderEvents,
  EncoderRendition,
  EncoderTag,
  LiveEncoder,
} from './live-encoder.ts';

/** Why a ladder has a rung less, or fewer frames. */
export type RenditionDropReason = 'too-slow' | 'encoder-failed';

/** What a ladder tells. */
export interface LadderTranscoderEvents {
  track(rung: string, track: TrackDescription): void;
  /** Samples of a rung are whole and in order, whatever becomes of its encoders. */
  sample(rung: string, sample: Sample, atMs: number): void;
  /** A rung is made no more: its last samples are those before `fromMs`, and may still come. */
  dropped(rung: string, fromMs: number, reason: RenditionDropReason): void;
  /** All samples of rungs that were dropped have come. */
  dropCompleted(): void;
  /** Of so many frames one is kept from now on; 1: all of them again. */
  frameRateChanged(frameDivisor: number): void;
  /** An encoder died. */
  failed(report: string): void;
  /** Nothing can be encoded. */
  gaveUp(report: string): void;
  /** `isCrowded` was true and is not any more. */
  backlogCleared(): void;
}

/** What a ladder is made with. */
export interface LadderTranscoderOptions {
  readonly video: Pick<EncoderConfig, 'width' | 'height' | 'overlay'>;
  /** Lowest first. One named `source` is never given up. */
  readonly renditions: readonly EncoderRendition[];
  readonly startEncoder: (order: EncoderConfig, events: EncoderEvents) => LiveEncoder;
  readonly events: LadderTranscoderEvents;
  /** Whether the keyframe that is written will begin a segment: viewers of a rung go on in another one only there. */
  readonly willBeginSegment: () => boolean;
  /** False keeps all rungs although the machine cannot keep up. */
  readonly canDropRenditions?: boolean;
  readonly clock: Clock;
}

/** What is kept for an encoder that may die, or has not read it: bytes, and milliseconds of media. */
const mostKeptBytes = 24 * 1024 * 1024;
const mostKeptMs = 20_000;
const watchEveryMs = 1000;
/** One that gave nothing for this long although it has input hangs. */
const stallMs = 8000;
/** An encoder that is to end has so long for what is inside. */
const drainMs = 10_000;
/** At the end of a publisher, an encoder that gives nothing for this long has no more to give. */
const finishStallMs = 2000;
const finishLookMs = 200;
const mostFailures = 4;
const failureWindowMs = 60_000;
const highestDivisor = 8;
/** Half of the frames that are left out come back after so long of health; each time that this was too early, twice as long is waited. */
const recoverAfterMs = 60_000;
const longestRecoveryMs = 10 * 60_000;
/** More lag than this, and whoever can wait should. */
const crowdedMs = 6000;
const relaxedMs = 2000;

/**
 * The rungs of one publisher's picture: keeps an encoder fed, starts another where one died, and does with less where the machine
 * cannot keep up.
 *
 * Media is kept back to the keyframe from which every rung could be made again. An encoder that died is replaced by one that decodes
 * from there and goes on with the frame after the last one that came; one that has too much to do is let work off what it has up to a
 * keyframe, and its successor begins with that. Either way nothing is missing.
 */
export class LadderTranscoder {
  readonly #options: LadderTranscoderOptions;
  readonly #watch = new LagMonitor();
  readonly #failures: SlidingWindowLimit;
  #renditions: readonly EncoderRendition[];
  #frameDivisor = 1;
  #recoverAfterMs = recoverAfterMs;
  /** Frames came back since the last time that some were left out. */
  #hasRecovered = false;
  /** The encoder keeps up since then; undefined where it does not. */
  #wellSinceMs: number | undefined;
  #config: EncoderTag | undefined;
  #reorderMs = 0;
  /** Begins with a keyframe. */
  #kept: EncoderTag[] = [];
  #keptBytes = 0;
  #encoder: LiveEncoder | undefined;
  /** Where the rungs end, on the clock of `shownMs`. */
  readonly #ends = new Map<string, number>();
  #newestMs = 0;
  /** When the newest frames are shown, as they rose: the last of them are still inside. */
  readonly #rises: number[] = [];
  /** What is inside could not be made again: more than is kept came since the last keyframe, and the encoder keeps up. */
  #isTorn = false;
  #lastInputMs = 0;
  #lastOutputMs = 0;
  /** What is to change at the next keyframe that it can change at. */
  #change: (() => void) | undefined;
  /** The rung that the change takes away, until that was told. */
  #dropping: string | undefined;
  /** The encoder works off what it has; the tags from this time on are for the next one. */
  #drainingFromMs: number | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  readonly #watchTimer: NodeJS.Timeout;
  #isCrowded = false;
  #isOver = false;
  readonly #ended = Promise.withResolvers<void>();

  constructor(options: LadderTranscoderOptions) {
    this.#options = options;
    this.#renditions = options.renditions;
    this.#failures = new SlidingWindowLimit(options.clock, mostFailures, failureWindowMs);
    this.#watchTimer = setInterval(() => this.#look(), watchEveryMs);
  }

  /** What is made now, lowest first. */
  get renditions(): readonly EncoderRendition[] {
    return this.#renditions;
  }

  /** It has so much to do that a source which can wait should. */
  get isBacklogged(): boolean {
    return this.#isCrowded;
  }

  /**
   * How far its slowest rung is behind what it could have given, in milliseconds of media. A frame comes out when the next one that is kept
   * goes in.
   */
  get lagMs(): number {
    const ends = this.#renditions.map(
      ({ name }) => this.#ends.get(name) ?? this.#kept[0]?.shownMs ?? this.#newestMs,
    );
    const dueMs = this.#rises.at(-2 * this.#frameDivisor) ?? this.#rises[0];
    return ends.length === 0 || dueMs === undefined ? 0 : Math.max(0, dueMs - Math.min(...ends));
  }

  /** @param reorderMs how much later than it is decoded a frame is shown */
  write(role: EncoderTag['role'], atMs: number, reorderMs: number, body: Buffer): void {
    if (this.#isOver || this.#renditions.length === 0) return;
    if (role === 'config') {
      this.#config = { role, atMs, shownMs: atMs, reorderMs: 0, body };
      return;
    }
    if (role === 'keyframe') this.#reorderMs = reorderMs;
    const shownMs = atMs + reorderMs - this.#reorderMs;
    const tag: EncoderTag = { role, atMs, shownMs, reorderMs: this.#reorderMs, body };
    if (role === 'keyframe') this.#isTorn = false;
    if (this.#kept.length === 0 && role !== 'keyframe' && !this.#isTorn) return;
    this.#lastInputMs = this.#options.clock.monotonicMs();
    this.#rise(shownMs);
    if (this.#isTorn) {
      this.#encoder?.write(tag);
      if (this.lagMs > relaxedMs) this.#overflow();
      return;
    }
    if (role === 'keyframe' && this.#drainingFromMs === undefined && this.#canChange()) this.#drain(tag);
    this.#kept.push(tag);
    this.#keptBytes += body.length;
    if (this.#keptBytes > mostKeptBytes || this.#newestMs - this.#kept[0]!.shownMs > mostKeptMs) {
      if (this.#keepsUp()) {
        this.#encoder?.write(tag);
        this.#isTorn = true;
        this.#forget();
      } else this.#overflow();
      return;
    }
    if (this.#drainingFromMs !== undefined) return;
    if (this.#encoder === undefined) this.#start();
    else this.#encoder.write(tag);
  }

  #canChange(): boolean {
    if (this.#change === undefined) return false;
    return this.#dropping === undefined || this.#options.willBeginSegment();
  }

  #rise(shownMs: number): void {
    if (this.#rises.length > 0 && shownMs <= this.#newestMs) return;
    this.#newestMs = shownMs;
    this.#rises.push(shownMs);
    if (this.#rises.length > 2 * highestDivisor) this.#rises.shift();
  }

  #keepsUp(): boolean {
    const hasAll = this.#renditions.every(({ name }) => this.#ends.has(name));
    return (
      hasAll && this.#encoder !== undefined && this.#drainingFromMs === undefined && this.lagMs <= relaxedMs
    );
  }

  /** The publisher is gone: what is inside comes out, for a while. */
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
    }, finishLookMs);
    await this.#ended.promise;
    clearInterval(timer);
  }

  /** Nothing of it is wanted any more. */
  async kill(): Promise<void> {
    this.#end();
    if (this.#encoder === undefined) return;
    this.#encoder.kill();
    await this.#ended.promise;
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#watchTimer);
    clearTimeout(this.#drainTimer);
    this.#forget();
  }

  #forget(): void {
    this.#kept = [];
    this.#keptBytes = 0;
  }

  // ------------------------------------------------------------------------------------------------ encoders

  #start(): void {
    const first = this.#kept[0];
    if (first === undefined || this.#renditions.length === 0) return;
    this.#watch.restart();
    this.#lastOutputMs = this.#options.clock.monotonicMs();
    const { video: picture, startEncoder, events } = this.#options;
    let encoder: LiveEncoder;
    try {
      encoder = startEncoder(
        {
          ...picture,
          frameDivisor: this.#frameDivisor,
          first,
          renditions: this.#renditions.map(rung => {
            const fromMs = this.#ends.get(rung.name);
            return {
              ...rung,
              fromMs,
              fromReorderMs: fromMs === undefined ? undefined : this.#reorderAt(fromMs),
            };
          }),
        },
        {
          track: (rung, track) => events.track(rung, track),
          sample: (rung, sample, atMs) => {
            if (this.#encoder === encoder) this.#sample(rung, sample, atMs);
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
    if (this.#config !== undefined) encoder.write({ ...this.#config, atMs: first.atMs });
    for (const tag of this.#kept) encoder.write(tag);
  }

  #reorderAt(shownMs: number): number | undefined {
    return this.#kept.findLast(tag => tag.role === 'keyframe' && tag.shownMs <= shownMs)?.reorderMs;
  }

  #sample(rung: string, sample: Sample, atMs: number): void {
    this.#lastOutputMs = this.#options.clock.monotonicMs();
    const former = this.#ends.get(rung);
    // Behind the frame that came, and before the next one can be.
    const endMs = atMs + 8;
    this.#ends.set(rung, Math.max(former ?? endMs, endMs));
    this.#options.events.sample(rung, sample, atMs);
    if (sample.isSync) this.#trim();
  }

  /** Forgets what no rung needs any more. */
  #trim(): void {
    if (this.#ends.size === 0) return;
    const doneMs = Math.min(
      ...this.#renditions.map(({ name }) => this.#ends.get(name) ?? Number.NEGATIVE_INFINITY),
    );
    const from = this.#kept.findLastIndex(({ role, shownMs }) => role === 'keyframe' && shownMs <= doneMs);
    if (from <= 0) return;
    for (const { body } of this.#kept.splice(0, from)) this.#keptBytes -= body.length;
  }

  #exited(failure: string | undefined): void {
    this.#encoder = undefined;
    this.#isTorn = false;
    clearTimeout(this.#drainTimer);
    if (this.#isOver) {
      this.#ended.resolve();
      return;
    }
    if (failure !== undefined) {
      this.#options.events.failed(failure);
      if (!this.#failures.take()) {
        this.#giveUp(failure);
        return;
      }
    }
    const fromMs = this.#drainingFromMs;
    this.#drainingFromMs = undefined;
    if (fromMs !== undefined) {
      this.#change?.();
      this.#change = undefined;
      // One that was cut off left its rungs somewhere before: those who follow them wait for the keyframe.
      this.#keepFrom(fromMs);
      this.#options.events.dropCompleted();
    }
    this.#start();
  }

  /** What comes next begins with the keyframe at `shownMs`. */
  #keepFrom(shownMs: number): void {
    const from = this.#kept.findIndex(tag => tag.role === 'keyframe' && tag.shownMs >= shownMs - 1);
    for (const { body } of this.#kept.splice(0, from < 0 ? this.#kept.length : from))
      this.#keptBytes -= body.length;
    this.#ends.clear();
  }

  #giveUp(report: string): void {
    this.#end();
    const rungs = this.#renditions;
    this.#renditions = [];
    if (rungs.some(({ name }) => name === sourceRendition)) {
      this.#options.events.gaveUp(report);
      return;
    }
    for (const { name } of rungs.toReversed()) {
      this.#options.events.dropped(name, this.#newestMs + 1, 'encoder-failed');
    }
    this.#options.events.dropCompleted();
  }

  // ------------------------------------------------------------------------------------------------ keeping up

  #look(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const lagMs = this.lagMs;
    if (lagMs > crowdedMs) this.#isCrowded = true;
    else if (this.#isCrowded && lagMs < relaxedMs) {
      this.#isCrowded = false;
      this.#options.events.backlogCleared();
    }
    if (this.#encoder === undefined) return;
    // A picture that stands still, with some frames left inside, is no fault of the encoder.
    const hasInput = this.#lastInputMs - this.#lastOutputMs > stallMs / 2;
    if (lagMs > 0 && hasInput && nowMs - this.#lastOutputMs > stallMs) {
      this.#lastOutputMs = nowMs;
      this.#encoder.kill();
      this.#encoder = undefined;
      this.#exited(`it gave nothing for ${stallMs} ms`);
      return;
    }
    if (this.#change !== undefined) return;
    if (this.#watch.observe(nowMs, lagMs) !== 'fine') this.#doWithLess();
    else this.#doWithMore(nowMs, lagMs);
  }

  /** Frames may come back where they were left out; rungs that were dropped do not, since their addresses carry on with others. */
  #doWithMore(nowMs: number, lagMs: number): void {
    if (this.#frameDivisor === 1) return;
    if (lagMs > relaxedMs) this.#wellSinceMs = undefined;
    else this.#wellSinceMs ??= nowMs;
    if (this.#wellSinceMs === undefined || nowMs - this.#wellSinceMs < this.#recoverAfterMs) return;
    this.#hasRecovered = true;
    this.#thinTo(this.#frameDivisor / 2);
  }

  #thinTo(divisor: number): void {
    this.#wellSinceMs = undefined;
    this.#change = () => {
      this.#frameDivisor = divisor;
      this.#options.events.frameRateChanged(divisor);
    };
  }

  #doWithLess(): void {
    if (this.#options.canDropRenditions === false) return;
    const top = this.#renditions.findLast(({ name }) => name !== sourceRendition);
    if (top !== undefined) {
      this.#change = () => {
        this.#renditions = this.#renditions.filter(rung => rung !== top);
        this.#ends.delete(top.name);
      };
      this.#dropping = top.name;
    } else if (this.#frameDivisor < highestDivisor) {
      if (this.#hasRecovered) this.#recoverAfterMs = Math.min(2 * this.#recoverAfterMs, longestRecoveryMs);
      this.#hasRecovered = false;
      this.#thinTo(this.#frameDivisor * 2);
    }
  }

  /** The encoder gets no more: `next` is for the one after it. */
  #drain(next: EncoderTag): void {
    this.#drainingFromMs = next.shownMs;
    this.#tellDropped(next.shownMs);
    if (this.#encoder === undefined) {
      this.#exited(undefined);
      return;
    }
    this.#encoder.finish();
    this.#drainTimer = setTimeout(() => this.#encoder?.kill(), drainMs);
  }

  /** So much waits that it cannot be made up for: what is made next begins with the newest keyframe, with less to do. */
  #overflow(): void {
    this.#encoder?.kill();
    this.#encoder = undefined;
    if (this.#change === undefined) this.#doWithLess();
    const newest = this.#kept.findLast(({ role }) => role === 'keyframe');
    this.#tellDropped(newest?.shownMs ?? this.#newestMs);
    // A single GOP may be more than can be kept.
    this.#drainingFromMs = newest === this.#kept[0] ? Number.POSITIVE_INFINITY : newest!.shownMs;
    this.#exited(undefined);
  }

  #tellDropped(fromMs: number): void {
    const rung = this.#dropping;
    this.#dropping = undefined;
    if (rung !== undefined) this.#options.events.dropped(rung, fromMs, 'too-slow');
  }
}
