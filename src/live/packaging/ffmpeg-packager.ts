import { packageArguments, packagePipes } from '../../ffmpeg/arguments/package-arguments.ts';
import type { PipedProcess, ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { copyLimits } from '../../ffmpeg/process/process-limits.ts';
import { FragmentReader, type Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { classifyAccessUnit } from '../../media/codecs/access-unit.ts';
import type { CodecConfig, MediaSample, TrackKind } from '../../media/samples/media-sample.ts';
import { messageOf } from '../../shared/errors.ts';
import { flvFeed } from '../transcode/flv-feed.ts';
import type { Packager, PackagerEvents, PackagerPlan, Tracks } from './packager.ts';

/** Unread input beyond this makes the publisher wait. */
const highWaterBytes = 4 * 1024 * 1024;
/** ffmpeg hangs when it has input and writes nothing for this long. */
const stallTimeoutMs = 8000;
/** Media time that audio waits for a video frame, so that one write takes both. */
const maxAudioWaitMs = 60;
/** Bounds a publisher whose timestamps do not increase. */
const maxWaitingTags = 64;
const maxEarlySamples = 300;

interface FfmpegPackagerOptions {
  readonly path: string;
  readonly owner: ProcessOwner;
  readonly plan: PackagerPlan;
  readonly events: PackagerEvents;
  readonly ids: Readonly<Record<string, unknown>>;
}

/** Packages with ffmpeg: FLV on its stdin, and one pipe of fragmented MP4 per track. */
export class FfmpegPackager implements Packager {
  readonly #process: PipedProcess;
  readonly #events: PackagerEvents;
  readonly #expected: readonly TrackKind[];
  readonly #hasVideo: boolean;
  #waitingBuffers: Buffer[] = [];
  #waitingSinceMs = 0;
  readonly #tracks: Tracks = {};
  /** Time of each track's first sample, from which its muxer counts. */
  readonly #startMs: Partial<Record<TrackKind, number>> = {};
  #earlySamples: { kind: TrackKind; sample: Sample }[] | undefined = [];
  #firstWriteMs: number | undefined;
  #isPaused = false;
  #isKilled = false;
  #failure: string | undefined;
  #stallTimer: NodeJS.Timeout | undefined;

  constructor(options: FfmpegPackagerOptions) {
    const { events } = options;
    const plan = {
      ...options.plan,
      audio: options.plan.audio === 'both' ? ('aac' as const) : options.plan.audio,
    };
    this.#events = events;
    this.#hasVideo = plan.hasVideo;
    const pipes = packagePipes(plan);
    const descriptors = Object.entries(pipes) as [TrackKind, number][];
    this.#expected = descriptors.map(([kind]) => kind);
    this.#process = options.owner.start(options.path, packageArguments(plan), {
      outputs: descriptors.length,
      limits: copyLimits,
      ids: options.ids,
    });
    for (const [kind, descriptor] of descriptors) this.#readOutput(kind, descriptor);
    this.#process.stdin.on('drain', () => {
      if (!this.#isPaused) return;
      this.#isPaused = false;
      events.drained();
    });
    this.#process.stdin.write(flvFeed.header(plan.audio !== 'none', plan.hasVideo));
    void this.#process.exited.then(exit => {
      clearTimeout(this.#stallTimer);
      if (this.#isKilled) {
        events.exited({ kind: 'stopped', report: '' });
        return;
      }
      // An unrequested exit loses input even with exit code 0.
      const failed = this.#failure !== undefined || exit.kind !== 'stopped';
      const how = exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
      const report = [this.#failure ?? how, ...exit.lastLines].join(' | ');
      events.exited({ kind: failed ? 'failed' : 'stopped', report });
    });
  }

  write(media: MediaSample | CodecConfig, atMs: number): boolean {
    const { kind } = media;
    const stdin = this.#process.stdin;
    if (stdin.writableEnded || stdin.destroyed) return true;
    this.#firstWriteMs ??= atMs;
    if (media.type === 'sample') this.#startMs[kind] ??= atMs;
    if (this.#waitingBuffers.length === 0) this.#waitingSinceMs = atMs;
    this.#waitingBuffers.push(...flvFeed.media(media, Math.max(0, atMs - this.#firstWriteMs)));
    const mayWait =
      kind === 'audio' &&
      this.#hasVideo &&
      atMs - this.#waitingSinceMs < maxAudioWaitMs &&
      this.#waitingBuffers.length < 3 * maxWaitingTags;
    if (!mayWait) this.#flush();
    if (stdin.writableLength > highWaterBytes) this.#isPaused = true;
    return !this.#isPaused;
  }

  async finish(): Promise<void> {
    this.#flush();
    await this.#process.stop();
  }

  async kill(): Promise<void> {
    this.#isKilled = true;
    await this.#process.kill();
  }

  /** Writes everything at once, since each write wakes ffmpeg. */
  #flush(): void {
    const stdin = this.#process.stdin;
    const waiting = this.#waitingBuffers;
    this.#waitingBuffers = [];
    if (waiting.length === 0 || stdin.writableEnded || stdin.destroyed) return;
    stdin.cork();
    for (const bytes of waiting) stdin.write(bytes);
    stdin.uncork();
    this.#startStallTimer();
  }

  #readOutput(kind: TrackKind, descriptor: number): void {
    const reader = new FragmentReader({
      onInit: tracks => this.#addTrack(kind, tracks[0]),
      onSample: sample => this.#addSample(kind, sample),
    });
    this.#process.output(descriptor).on('data', (chunk: Buffer) => {
      if (this.#failure !== undefined || this.#isKilled) return;
      clearTimeout(this.#stallTimer);
      this.#stallTimer = undefined;
      // Expects output: ffmpeg must read this before it gets more.
      if (this.#process.stdin.writableLength > 0) this.#startStallTimer();
      try {
        reader.push(chunk);
      } catch (error) {
        this.#fail(`its output cannot be read: ${messageOf(error)}`);
      }
    });
  }

  #addTrack(kind: TrackKind, track: TrackDescription | undefined): void {
    if (track === undefined) throw new Error('an init segment without a track');
    this.#tracks[kind] = track;
    if (!this.#expected.every(expected => this.#tracks[expected] !== undefined)) return;
    this.#events.tracks(this.#tracks);
    const early = this.#earlySamples ?? [];
    this.#earlySamples = undefined;
    for (const { kind: earlyKind, sample } of early) this.#emitSample(earlyKind, sample);
  }

  #addSample(kind: TrackKind, sample: Sample): void {
    if (this.#earlySamples === undefined) this.#emitSample(kind, sample);
    else if (this.#earlySamples.length >= maxEarlySamples) this.#fail('one of its tracks never began');
    else this.#earlySamples.push({ kind, sample });
  }

  #emitSample(kind: TrackKind, sample: Sample): void {
    const { timescale = 1000, codec = '' } = this.#tracks[kind] ?? {};
    const atMs = (this.#startMs[kind] ?? 0) + (sample.dtsTicks * 1000) / timescale;
    // ffmpeg marks recovery points, too.
    const isRecovery =
      sample.isSync && codec.startsWith('avc') && classifyAccessUnit('avc1', sample.data, 4) === 'recovery';
    this.#events.sample(kind, isRecovery ? { ...sample, isSync: false } : sample, atMs);
  }

  #startStallTimer(): void {
    if (this.#stallTimer !== undefined) return;
    const timer = setTimeout(() => {
      // Checks once more: if this process was held up itself, the output waits to be read.
      setImmediate(() => {
        if (this.#stallTimer === timer) this.#fail(`it gave nothing for ${stallTimeoutMs} ms`);
      });
    }, stallTimeoutMs);
    this.#stallTimer = timer;
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    void this.#process.kill();
  }
}
