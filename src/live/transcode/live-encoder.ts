import {
  type LiveEncodeOptions,
  liveEncodeArguments,
  liveEncodeLeadSeconds,
} from '../../ffmpeg/arguments/live-encode-arguments.ts';
import type { FfmpegBuild } from '../../ffmpeg/build/find-ffmpeg.ts';
import { type FpsModeSupport, withFpsMode } from '../../ffmpeg/build/find-ffmpeg.ts';
import type { EncoderDevice } from '../../ffmpeg/hardware/encoder-device.ts';
import type { PipedProcess, ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { liveEncodeLimits } from '../../ffmpeg/process/process-limits.ts';
import { FragmentReader, type Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { matroskaFrameHeader, matroskaVideoHeader } from '../../media/matroska/video-writer.ts';
import type { CodecConfig, MediaSample } from '../../media/samples/media-sample.ts';
import { messageOf } from '../../shared/errors.ts';
import { readVideoHeader } from '../packaging/track-format.ts';

export interface EncoderInput {
  readonly role: 'config' | 'keyframe' | 'frame';
  /** Decode time on the broadcast's clock. */
  readonly atMs: number;
  /** Presentation time on a clock that shows keyframes when they are decoded: the decode time without B-frames. */
  readonly shownMs: number;
  /** Presentation time on the broadcast's clock minus `shownMs`. */
  readonly reorderMs: number;
  readonly media: MediaSample | CodecConfig;
}

export interface EncoderRendition {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
  /** Frames before this `shownMs` are encoded already. */
  readonly fromMs?: number | undefined;
  /** The `reorderMs` from there on; that of the first keyframe by default. */
  readonly fromReorderMs?: number | undefined;
}

export interface EncoderConfig
  extends Pick<LiveEncodeOptions, 'width' | 'height' | 'overlay' | 'frameDivisor'> {
  readonly renditions: readonly EncoderRendition[];
  readonly first: Pick<EncoderInput, 'atMs' | 'shownMs' | 'reorderMs'>;
}

export interface EncoderEvents {
  track(rendition: string, track: TrackDescription): void;
  /** Called for samples in decoding order. `atMs`: decode time on the broadcast's clock. */
  sample(rendition: string, sample: Sample, atMs: number): void;
  /** The last event. `failure` is undefined after a requested end. */
  exited(failure: string | undefined): void;
}

/** Write the decoder configuration first, then a keyframe. */
export interface LiveEncoder {
  write(input: EncoderInput): void;
  /** Outputs pending media before `exited`. */
  finish(): void;
  kill(): void;
}

interface FfmpegLiveEncoderOptions {
  readonly ffmpeg: Pick<FfmpegBuild, 'path'> & FpsModeSupport;
  readonly owner: ProcessOwner;
  readonly config: EncoderConfig;
  readonly events: EncoderEvents;
  /** Undefined: software. */
  readonly device?: EncoderDevice | undefined;
  readonly threads: number;
  readonly maxPixels: number;
  readonly memoryBytes: number;
  /** 0..19. */
  readonly niceness: number;
  readonly ids: Readonly<Record<string, unknown>>;
}

interface RenditionState {
  readonly config: EncoderRendition;
  /** Presentation time of its first frame, on the broadcast's clock. */
  readonly fromMs: number;
  timescale: number;
  /** Presentation time of the first sample: the muxer counts from there. */
  startMs: number | undefined;
  reorderMs: number;
}

interface WrittenFrame {
  /** Presentation time on the broadcast's clock. */
  readonly ptsMs: number;
  readonly reorderMs: number;
  readonly isKeyframe: boolean;
}

/** Matroska and the muxer round times to milliseconds. */
const roundingMs = 4;
const maxKeyframes = 2000;

/** Runs an ffmpeg that reads Matroska on stdin and writes fragmented MP4 on one pipe per rendition. */
export class FfmpegLiveEncoder implements LiveEncoder {
  readonly #process: PipedProcess;
  readonly #events: EncoderEvents;
  readonly #config: EncoderConfig;
  readonly #renditions: readonly RenditionState[];
  #written: WrittenFrame[] | undefined = [];
  readonly #keyframes: WrittenFrame[] = [];
  #failure: string | undefined;
  #isKilled = false;

  /** @throws Error when memory or file descriptors are exhausted */
  constructor(options: FfmpegLiveEncoderOptions) {
    const { config, events, device, threads, maxPixels, memoryBytes, niceness } = options;
    const { first } = config;
    this.#events = events;
    this.#config = config;
    this.#renditions = config.renditions.map(rendition => ({
      config: rendition,
      fromMs: (rendition.fromMs ?? first.shownMs) + (rendition.fromReorderMs ?? first.reorderMs) - roundingMs,
      timescale: 1000,
      startMs: undefined,
      reorderMs: first.reorderMs,
    }));
    const timed = this.#renditions.map(({ config: { name, width, height, bitsPerSecond }, fromMs }) => ({
      name,
      width,
      height,
      bitsPerSecond,
      fromSeconds: (fromMs - first.atMs) / 1000,
    }));
    this.#process = options.owner.start(
      options.ffmpeg.path,
      withFpsMode(
        liveEncodeArguments({ ...config, renditions: timed, device, threads, maxPixels }),
        options.ffmpeg,
      ),
      {
        outputs: timed.length,
        limits: liveEncodeLimits(memoryBytes),
        access: {
          reads: config.overlay === undefined ? [] : [config.overlay.path],
          hasDevices: device !== undefined,
        },
        ids: options.ids,
        niceness,
      },
    );
    for (const [index, rendition] of this.#renditions.entries()) this.#read(rendition, 3 + index);
    void this.#process.exited.then(exit => {
      const how = exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
      const isRequested = this.#isKilled || (this.#failure === undefined && exit.kind === 'stopped');
      events.exited(isRequested ? undefined : [this.#failure ?? how, ...exit.lastLines].join(' | '));
    });
  }

  write({ role, shownMs, reorderMs, media }: EncoderInput): void {
    const { stdin } = this.#process;
    if (stdin.writableEnded || stdin.destroyed || this.#failure !== undefined) return;
    if (media.type === 'config') {
      const { width, height } = this.#config;
      try {
        stdin.write(matroskaVideoHeader({ ...readVideoHeader(media), width, height }));
      } catch (error) {
        this.#fail(messageOf(error));
      }
      return;
    }
    const frame = { ptsMs: shownMs + reorderMs, reorderMs, isKeyframe: role === 'keyframe' };
    this.#written?.push(frame);
    if (frame.isKeyframe) this.#keyframes.push(frame);
    if (this.#keyframes.length > maxKeyframes) this.#keyframes.shift();
    const { data } = media;
    const sinceFirstMs = Math.round(frame.ptsMs - this.#config.first.atMs);
    const timeMs = Math.max(0, sinceFirstMs + liveEncodeLeadSeconds * 1000);
    stdin.cork();
    stdin.write(matroskaFrameHeader(timeMs, frame.isKeyframe, data.length));
    stdin.write(data);
    stdin.uncork();
  }

  finish(): void {
    // The caller limits the time.
    void this.#process.stop({ interruptAfterMs: 60_000, killAfterMs: 1000 });
  }

  kill(): void {
    this.#isKilled = true;
    void this.#process.kill();
  }

  #read(rendition: RenditionState, descriptor: number): void {
    const { name } = rendition.config;
    const reader = new FragmentReader({
      onInit: ([track]) => {
        if (track === undefined) throw new Error('an init segment without a track');
        rendition.timescale = track.timescale;
        this.#events.track(name, track);
      },
      onSample: sample => {
        rendition.startMs ??= this.#firstShown(rendition);
        const ptsMs = rendition.startMs + (sample.dtsTicks * 1000) / rendition.timescale;
        if (sample.isSync) rendition.reorderMs = this.#reorderOf(ptsMs) ?? rendition.reorderMs;
        const { reorderMs, timescale } = rendition;
        const compositionOffsetTicks = Math.round((reorderMs * timescale) / 1000);
        this.#events.sample(name, { ...sample, compositionOffsetTicks }, ptsMs - reorderMs);
      },
    });
    this.#process.output(descriptor).on('data', (chunk: Buffer) => {
      if (this.#failure !== undefined || this.#isKilled) return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.#fail(`its output is malformed: ${messageOf(error)}`);
      }
    });
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    void this.#process.kill();
  }

  /** Returns the reorder delay. With a variable frame rate every keyframe has another offset. */
  #reorderOf(ptsMs: number): number | undefined {
    return this.#keyframes.find(keyframe => Math.abs(keyframe.ptsMs - ptsMs) <= roundingMs)?.reorderMs;
  }

  #firstShown(rendition: RenditionState): number {
    const inOrder = (this.#written ?? []).toSorted((one, other) => one.ptsMs - other.ptsMs);
    if (this.#renditions.filter(({ startMs }) => startMs === undefined).length <= 1)
      this.#written = undefined;
    const { frameDivisor, first } = this.#config;
    const found = inOrder.find(
      ({ ptsMs, isKeyframe }, index) =>
        ptsMs >= rendition.fromMs && (isKeyframe || index % frameDivisor === 0),
    );
    rendition.reorderMs = found?.reorderMs ?? first.reorderMs;
    return found?.ptsMs ?? first.shownMs + first.reorderMs;
  }
}
