import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { classifyAccessUnit, withoutTemporalDelimiter } from '../../media/codecs/access-unit.ts';
import { compositionOffsetMs, type TrackKind, videoHeaderBytes } from '../../media/flv/flv-tag.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import {
  type AacConfig,
  describeAac,
  describeVideo,
  readVideoHeader,
  type VideoHeader,
} from './flv-tracks.ts';
import type { Packager, PackagerEvents, PackagerPlan, Tracks } from './packager.ts';
import { SampleClock } from './sample-clock.ts';

interface DirectPackagerOptions {
  readonly plan: PackagerPlan;
  readonly events: PackagerEvents;
}

interface Frame {
  readonly kind: TrackKind;
  readonly atMs: number;
  readonly data: Buffer;
  readonly offsetMs: number;
  readonly isSync: boolean;
}

interface OpenTrack {
  readonly description: TrackDescription;
  readonly clock: SampleClock;
  /** Ends where the next one starts. */
  held: Sample | undefined;
}

const aacHeaderBytes = 2;
/** Frames that wait for the configuration of the other track. */
const maxEarlyFrames = 300;
/** In a row; more than between two keyframes. */
const maxUnusableFrames = 1000;
/** Encoders round their times, so that only more is a gap, a drift or another rate. */
const videoTolerance = { roundingMs: 1.05, maxDeviationMs: 3 };
/** Not to be heard. */
const audioTolerance = { roundingMs: 3, maxDeviationMs: 40 };

/** Packages H.264, HEVC, AV1 and AAC without another process. A sample is handed out when its frame arrives. */
export class DirectPackager implements Packager {
  readonly #plan: PackagerPlan;
  readonly #events: PackagerEvents;
  #videoHeader: VideoHeader | undefined;
  #audioConfig: AacConfig | undefined;
  readonly #tracks: Partial<Record<TrackKind, OpenTrack>> = {};
  #isOpen = false;
  #earlyFrames: Frame[] = [];
  #hasKeyframe = false;
  #unusableFrames = 0;
  #isOver = false;

  constructor({ plan, events }: DirectPackagerOptions) {
    this.#plan = plan;
    this.#events = events;
  }

  write(kind: TrackKind, atMs: number, body: Buffer, isConfig: boolean): boolean {
    if (this.#isOver) return true;
    try {
      if (isConfig) this.#configure(kind, body);
      else if (kind === 'audio') this.#writeAudio(atMs, body);
      else this.#writeVideo(atMs, body);
    } catch (error) {
      this.#end('failed', messageOf(error));
    }
    return true;
  }

  async finish(): Promise<void> {
    if (this.#isOver) return;
    try {
      for (const track of [this.#tracks.video, this.#tracks.audio]) {
        if (track !== undefined) this.#release(track, track.clock.lastEndTicks);
      }
    } catch (error) {
      this.#end('failed', messageOf(error));
    }
    this.#end('stopped', '');
  }

  async kill(): Promise<void> {
    this.#end('stopped', '');
  }

  #end(kind: 'stopped' | 'failed', report: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#earlyFrames = [];
    this.#events.exited({ kind, report });
  }

  #configure(kind: TrackKind, body: Buffer): void {
    if (kind === 'audio') this.#audioConfig ??= describeAac(body.subarray(aacHeaderBytes));
    else this.#videoHeader ??= readVideoHeader(body);
  }

  #writeAudio(atMs: number, body: Buffer): void {
    if (body.length <= aacHeaderBytes) return;
    this.#add('audio', atMs, body.subarray(aacHeaderBytes), 0, true);
  }

  #writeVideo(atMs: number, body: Buffer): void {
    const header = this.#videoHeader;
    if (header === undefined) {
      this.#dropVideo('frames without a configuration');
      return;
    }
    const payload = body.subarray(videoHeaderBytes(body));
    const data = header.codec === 'av01' ? withoutTemporalDelimiter(payload) : payload;
    const isMarked = ((body[0]! >> 4) & 0b111) === 1;
    const unit = classifyAccessUnit(header.codec, data, header.lengthBytes, isMarked);
    if (unit === 'empty') return;
    if (unit === 'malformed') {
      this.#dropVideo('frames whose unit lengths are wrong');
      return;
    }
    this.#hasKeyframe ||= unit === 'sync';
    if (!this.#hasKeyframe) {
      this.#dropVideo('no keyframe that can be decoded on its own');
      return;
    }
    this.#unusableFrames = 0;
    this.#add('video', atMs, data, compositionOffsetMs(body), unit === 'sync');
  }

  #dropVideo(problem: string): void {
    this.#unusableFrames += 1;
    if (this.#unusableFrames > maxUnusableFrames) throw new AppError('media-malformed', problem);
    this.#events.dropped(1);
  }

  #add(kind: TrackKind, atMs: number, data: Buffer, offsetMs: number, isSync: boolean): void {
    if (this.#isOpen) {
      this.#place(kind, atMs, data, offsetMs, isSync);
      return;
    }
    this.#earlyFrames.push({ kind, atMs, data, offsetMs, isSync });
    this.#open();
    if (this.#isOpen) {
      const early = this.#earlyFrames;
      this.#earlyFrames = [];
      for (const frame of early) {
        this.#place(frame.kind, frame.atMs, frame.data, frame.offsetMs, frame.isSync);
      }
    } else if (this.#earlyFrames.length > maxEarlyFrames) {
      throw new AppError('media-malformed', 'one of its tracks never began');
    }
  }

  /** Describes the tracks once a frame and the configurations of all are there. */
  #open(): void {
    const { hasVideo, audio } = this.#plan;
    const described: Tracks = {};
    if (hasVideo) {
      const keyframe = this.#earlyFrames.find(({ kind }) => kind === 'video');
      if (this.#videoHeader === undefined || keyframe === undefined) return;
      const { track, frameSeconds } = describeVideo(this.#videoHeader, keyframe.data);
      this.#tracks.video = {
        description: track,
        clock: new SampleClock({
          timescale: track.timescale,
          declaredFrameSeconds: this.#declaredFrameSeconds(frameSeconds),
          ...videoTolerance,
        }),
        held: undefined,
      };
      described.video = track;
    }
    if (audio !== 'none') {
      if (this.#audioConfig === undefined) return;
      const { track, frameSeconds } = this.#audioConfig;
      const clock = new SampleClock({ timescale: track.timescale, frameSeconds, ...audioTolerance });
      this.#tracks.audio = { description: track, clock, held: undefined };
      described.audio = track;
    }
    this.#isOpen = true;
    this.#events.tracks(described);
  }

  /** Some encoders count fields instead of frames, and some leave the rate to the metadata. */
  #declaredFrameSeconds(frameSeconds: number | undefined): number[] {
    const { framesPerSecond } = this.#plan;
    return [
      ...(frameSeconds === undefined ? [] : [frameSeconds, 2 * frameSeconds, frameSeconds / 2]),
      ...(framesPerSecond === undefined ? [] : [1 / framesPerSecond]),
    ];
  }

  #place(kind: TrackKind, atMs: number, data: Buffer, offsetMs: number, isSync: boolean): void {
    const track = kind === 'video' ? this.#tracks.video : this.#tracks.audio;
    if (track === undefined || this.#isOver) return;
    const { clock } = track;
    clock.next(atMs);
    const startTicks = clock.startTicks;
    this.#release(track, startTicks);
    const endTicks = clock.endTicks;
    const sample = {
      trackId: track.description.id,
      dtsTicks: startTicks,
      durationTicks: (endTicks ?? startTicks) - startTicks,
      compositionOffsetTicks: offsetMs === 0 ? 0 : clock.compositionOffset(offsetMs),
      isSync,
      data,
    };
    if (endTicks === undefined) track.held = sample;
    else this.#emit(track, sample);
  }

  #release(track: OpenTrack, endTicks: number): void {
    const { held } = track;
    if (held === undefined) return;
    track.held = undefined;
    this.#emit(track, { ...held, durationTicks: endTicks - held.dtsTicks });
  }

  #emit({ description: { kind, timescale } }: OpenTrack, sample: Sample): void {
    this.#events.sample(kind, sample, (sample.dtsTicks * 1000) / timescale);
  }
}
