import { FragmentReader, type Sample } from '../cmaf/fragment-reader.ts';
import type { TrackDescription } from '../cmaf/init-segment.ts';
import { type LiveEncodeOrder, liveEncodeArguments } from '../ffmpeg/live-encode-arguments.ts';
import type { OwnedProcess, ProcessOwner } from '../ffmpeg/owned-process.ts';
import { messageOf } from '../shared/errors.ts';
import { flvHeader, flvTagFrame } from './flv-tag.ts';

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
export interface EncoderRung {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
  /** Frames before this (`shownMs`) are there already. */
  readonly fromMs?: number | undefined;
}

/** What an encoder makes. */
export interface EncoderOrder extends Pick<LiveEncodeOrder, 'width' | 'height' | 'overlay' | 'frameDivisor'> {
  readonly rungs: readonly EncoderRung[];
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
  readonly path: string;
  readonly owner: ProcessOwner;
  readonly order: EncoderOrder;
  readonly events: EncoderEvents;
  readonly threads: number;
  /** 0..19: how much it gives way to copying. */
  readonly niceness: number;
  /** Go on the log lines of the process. */
  readonly ids: Readonly<Record<string, unknown>>;
}

interface RungState {
  readonly order: EncoderRung;
  /** Frames from here on (`shownMs`) are in it. */
  readonly fromMs: number;
  timescale: number;
  /** Decoding time of its first sample, from where its muxer counts. */
  startMs: number | undefined;
}

/** Times of frames are rounded to milliseconds on their way. */
const roundingMs = 4;

/** An encoder that is one ffmpeg: FLV on its stdin, one fragmented MP4 a rung on pipes of their own. */
export class FfmpegLiveEncoder implements LiveEncoder {
  readonly #process: OwnedProcess;
  readonly #events: EncoderEvents;
  readonly #order: EncoderOrder;
  readonly #rungs: readonly RungState[];
  /** Of the frames written, until every rung has begun. */
  #written: { readonly shownMs: number; readonly isKeyframe: boolean }[] | undefined = [];
  #failure: string | undefined;
  #isKilled = false;

  /** @throws Error when there is nothing left to start a process with */
  constructor(options: FfmpegLiveEncoderOptions) {
    const { order, events, threads, niceness } = options;
    const { first } = order;
    this.#events = events;
    this.#order = order;
    this.#rungs = order.rungs.map(rung => ({
      order: rung,
      fromMs: (rung.fromMs ?? first.shownMs) - roundingMs,
      timescale: 1000,
      startMs: undefined,
    }));
    const timed = this.#rungs.map(({ order: { name, width, height, bitsPerSecond }, fromMs }) => ({
      ...{ name, width, height, bitsPerSecond },
      fromSeconds: (fromMs - first.atMs + first.reorderMs) / 1000,
    }));
    this.#process = options.owner.start(
      options.path,
      liveEncodeArguments({ ...order, rungs: timed, threads }),
      { outputs: timed.length, ids: options.ids, niceness },
    );
    for (const [index, rung] of this.#rungs.entries()) this.#read(rung, 3 + index);
    this.#process.stdin.write(flvHeader(false, true));
    void this.#process.exited.then(exit => {
      const how = exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
      const wasAsked = this.#isKilled || (this.#failure === undefined && exit.kind === 'stopped');
      events.exited(wasAsked ? undefined : [this.#failure ?? how, ...exit.lastLines].join(' | '));
    });
  }

  write({ role, atMs, shownMs, body }: EncoderTag): void {
    const { stdin } = this.#process;
    if (stdin.writableEnded || stdin.destroyed) return;
    if (role !== 'config') this.#written?.push({ shownMs, isKeyframe: role === 'keyframe' });
    const [head, tail] = flvTagFrame('video', Math.max(0, atMs - this.#order.first.atMs), body.length);
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

  #read(rung: RungState, descriptor: number): void {
    const { name } = rung.order;
    const reader = new FragmentReader({
      onInit: ([track]) => {
        if (track === undefined) throw new Error('an init segment without a track');
        rung.timescale = track.timescale;
        this.#events.track(name, track);
      },
      onSample: sample => {
        rung.startMs ??= this.#firstShown(rung);
        const { reorderMs } = this.#order.first;
        const compositionOffsetTicks =
          sample.compositionOffsetTicks + Math.round((reorderMs * rung.timescale) / 1000);
        const atMs = rung.startMs + (sample.dtsTicks * 1000) / rung.timescale;
        this.#events.sample(name, { ...sample, compositionOffsetTicks }, atMs);
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

  /** When the first frame that a rung has is shown. */
  #firstShown({ fromMs }: RungState): number {
    const inOrder = (this.#written ?? []).toSorted((one, other) => one.shownMs - other.shownMs);
    if (this.#rungs.filter(({ startMs }) => startMs === undefined).length <= 1) this.#written = undefined;
    const { frameDivisor, first } = this.#order;
    const found = inOrder.find(
      ({ shownMs, isKeyframe }, index) => shownMs >= fromMs && (isKeyframe || index % frameDivisor === 0),
    );
    return found?.shownMs ?? first.shownMs;
  }
}
