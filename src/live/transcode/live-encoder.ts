import { type LiveEncodeOptions, liveEncodeArguments } from '../../ffmpeg/arguments/live-encode-arguments.ts';
import type { FfmpegBuild } from '../../ffmpeg/build/find-ffmpeg.ts';
import { type FpsModeSupport, withFpsMode } from '../../ffmpeg/build/find-ffmpeg.ts';
import type { PipedProcess, ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { liveEncodeLimits } from '../../ffmpeg/process/process-limits.ts';
import { FragmentReader, type Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { flvHeader, flvTagEnvelope } from '../../media/flv/flv-tag.ts';
import { messageOf } from '../../shared/errors.ts';

/** A tag of picture on its way to an encoder. */
export interface EncoderTag {
  readonly role: 'config' | 'keyframe' | 'frame';
  /** Decoding time on the broadcast's clock. */
  readonly atMs: number;
  /**
   * When the frame is shown, on the clock on which keyframes are shown when they are decoded: B-frames need no room there, and what
   * is encoded without them has these decoding times.
   */
  readonly shownMs: number;
  /** How much later than `shownMs` it is shown on the broadcast's clock. */
  readonly reorderMs: number;
  readonly body: Buffer;
}

/** One rung that an encoder makes. */
export interface EncoderRendition {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
  /** Frames before this (`shownMs`) are there already. */
  readonly fromMs?: number | undefined;
  /** The `reorderMs` of the frames from there on; that of the first keyframe unless given. */
  readonly fromReorderMs?: number | undefined;
}

/** What an encoder makes. */
export interface EncoderConfig
  extends Pick<LiveEncodeOptions, 'width' | 'height' | 'overlay' | 'frameDivisor'> {
  readonly renditions: readonly EncoderRendition[];
  /** The keyframe that it will begin with. */
  readonly first: Pick<EncoderTag, 'atMs' | 'shownMs' | 'reorderMs'>;
}

/** What an encoder tells. */
export interface EncoderEvents {
  /** Before the first sample of each rung. */
  track(rung: string, track: TrackDescription): void;
  /** In the order of decoding. `atMs`: decoding time on the broadcast's clock. */
  sample(rung: string, sample: Sample, atMs: number): void;
  /** Last. `failure` says why it is gone, unless it was asked to end. */
  exited(failure: string | undefined): void;
}

/** Makes rungs out of the picture of one publisher. It gets the configuration first, then a keyframe. */
export interface LiveEncoder {
  write(tag: EncoderTag): void;
  /** No more input: what is inside comes out, then `exited`. */
  finish(): void;
  /** Gives up what is inside. */
  kill(): void;
}

/** What one ffmpeg encoder needs beside its order. */
export interface FfmpegLiveEncoderOptions {
  readonly ffmpeg: Pick<FfmpegBuild, 'path'> & FpsModeSupport;
  readonly owner: ProcessOwner;
  readonly order: EncoderConfig;
  readonly events: EncoderEvents;
  readonly threads: number;
  /** Larger pictures are not decoded. */
  readonly maxPixels: number;
  /** For its data. */
  readonly memoryBytes: number;
  /** 0..19: how much it gives way to copying. */
  readonly niceness: number;
  /** Go on the log lines of the process. */
  readonly ids: Readonly<Record<string, unknown>>;
}

interface RenditionState {
  readonly order: EncoderRendition;
  /** Frames that are shown from here on, on the broadcast's clock, are in it. */
  readonly fromMs: number;
  timescale: number;
  /** When its first sample is shown on the broadcast's clock: its muxer counts from there. */
  startMs: number | undefined;
  /** That of the newest keyframe. */
  reorderMs: number;
}

/** A frame that was written. */
interface WrittenFrame {
  /** When it is shown on the broadcast's clock. */
  readonly ptsMs: number;
  readonly reorderMs: number;
  readonly isKeyframe: boolean;
}

/** Times of frames are rounded to milliseconds on their way. */
const roundingMs = 4;
/** More than can be inside. */
const mostKeyframes = 2000;

/** An encoder that is one ffmpeg: FLV on its stdin, one fragmented MP4 a rung on pipes of their own. */
export class FfmpegLiveEncoder implements LiveEncoder {
  readonly #process: PipedProcess;
  readonly #events: EncoderEvents;
  readonly #order: EncoderConfig;
  readonly #rungs: readonly RenditionState[];
  /** Of the frames written, until every rung has begun. */
  #written: WrittenFrame[] | undefined = [];
  /** The newest keyframes written. */
  readonly #keyframes: WrittenFrame[] = [];
  #failure: string | undefined;
  #isKilled = false;

  /** @throws Error when there is nothing left to start a process with */
  constructor(options: FfmpegLiveEncoderOptions) {
    const { order, events, threads, maxPixels, memoryBytes, niceness } = options;
    const { first } = order;
    this.#events = events;
    this.#order = order;
    this.#rungs = order.renditions.map(rung => ({
      order: rung,
      fromMs: (rung.fromMs ?? first.shownMs) + (rung.fromReorderMs ?? first.reorderMs) - roundingMs,
      timescale: 1000,
      startMs: undefined,
      reorderMs: first.reorderMs,
    }));
    const timed = this.#rungs.map(({ order: { name, width, height, bitsPerSecond }, fromMs }) => ({
      ...{ name, width, height, bitsPerSecond },
      fromSeconds: (fromMs - first.atMs) / 1000,
    }));
    this.#process = options.owner.start(
      options.ffmpeg.path,
      withFpsMode(liveEncodeArguments({ ...order, renditions: timed, threads, maxPixels }), options.ffmpeg),
      { outputs: timed.length, limits: liveEncodeLimits(memoryBytes), ids: options.ids, niceness },
    );
    for (const [index, rung] of this.#rungs.entries()) this.#read(rung, 3 + index);
    this.#process.stdin.write(flvHeader(false, true));
    void this.#process.exited.then(exit => {
      const how = exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
      const wasAsked = this.#isKilled || (this.#failure === undefined && exit.kind === 'stopped');
      events.exited(wasAsked ? undefined : [this.#failure ?? how, ...exit.lastLines].join(' | '));
    });
  }

  write({ role, atMs, shownMs, reorderMs, body }: EncoderTag): void {
    const { stdin } = this.#process;
    if (stdin.writableEnded || stdin.destroyed) return;
    if (role !== 'config') {
      const frame = { ptsMs: shownMs + reorderMs, reorderMs, isKeyframe: role === 'keyframe' };
      this.#written?.push(frame);
      if (frame.isKeyframe) this.#keyframes.push(frame);
      if (this.#keyframes.length > mostKeyframes) this.#keyframes.shift();
    }
    const [head, tail] = flvTagEnvelope('video', Math.max(0, atMs - this.#order.first.atMs), body.length);
    stdin.cork();
    stdin.write(head);
    stdin.write(body);
    stdin.write(tail);
    stdin.uncork();
  }

  finish(): void {
    // What is inside may take as long as the one who asked lets it.
    void this.#process.stop({ interruptAfterMs: 60_000, killAfterMs: 1000 });
  }

  kill(): void {
    this.#isKilled = true;
    void this.#process.kill();
  }

  #read(rung: RenditionState, descriptor: number): void {
    const { name } = rung.order;
    const reader = new FragmentReader({
      onInit: ([track]) => {
        if (track === undefined) throw new Error('an init segment without a track');
        rung.timescale = track.timescale;
        this.#events.track(name, track);
      },
      onSample: sample => {
        rung.startMs ??= this.#firstShown(rung);
        const ptsMs = rung.startMs + (sample.dtsTicks * 1000) / rung.timescale;
        if (sample.isSync) rung.reorderMs = this.#reorderOf(ptsMs) ?? rung.reorderMs;
        const { reorderMs, timescale } = rung;
        const compositionOffsetTicks = Math.round((reorderMs * timescale) / 1000);
        this.#events.sample(name, { ...sample, compositionOffsetTicks }, ptsMs - reorderMs);
      },
    });
    this.#process.output(descriptor).on('data', (chunk: Buffer) => {
      if (this.#failure !== undefined || this.#isKilled) return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.#failure = `its output cannot be read: ${messageOf(error)}`;
        void this.#process.kill();
      }
    });
  }

  /** Where frames come at no constant rate, it is another one for each keyframe. */
  #reorderOf(ptsMs: number): number | undefined {
    return this.#keyframes.find(keyframe => Math.abs(keyframe.ptsMs - ptsMs) <= roundingMs)?.reorderMs;
  }

  /** When the first frame that a rung has is shown. */
  #firstShown(rung: RenditionState): number {
    const inOrder = (this.#written ?? []).toSorted((one, other) => one.ptsMs - other.ptsMs);
    if (this.#rungs.filter(({ startMs }) => startMs === undefined).length <= 1) this.#written = undefined;
    const { frameDivisor, first } = this.#order;
    const found = inOrder.find(
      ({ ptsMs, isKeyframe }, index) => ptsMs >= rung.fromMs && (isKeyframe || index % frameDivisor === 0),
    );
    rung.reorderMs = found?.reorderMs ?? first.reorderMs;
    return found?.ptsMs ?? first.shownMs + first.reorderMs;
  }
}
