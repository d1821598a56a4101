import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { classifyAccessUnit, withoutTemporalDelimiter } from '../../media/codecs/access-unit.ts';
import {
  audioHeaderBytes,
  compositionOffsetMs,
  describeAudioTag,
  videoHeaderBytes,
} from '../../media/flv/flv-tag.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import { flvAudioInput, mp4AudioInput } from '../transcode/audio-input.ts';
import { AudioTranscoder, type StartAudioEncoder } from '../transcode/audio-transcoder.ts';
import {
  type AudioFormat,
  describeAac,
  describeAudio,
  describeVideo,
  readVideoHeader,
  type VideoHeader,
} from './flv-tracks.ts';
import type { PackagedTracks, Packager, PackagerEvents, PackagerPlan } from './packager.ts';
import { SampleClock } from './sample-clock.ts';

interface DirectPackagerOptions {
  readonly plan: PackagerPlan;
  readonly events: PackagerEvents;
  /** For audio that must be converted. */
  readonly startAudioEncoder?: StartAudioEncoder;
  readonly onAudioEncoderFailed?: (report: string) => void;
}

interface Frame {
  readonly kind: TrackKind;
  readonly atMs: number;
  readonly data: Buffer;
  readonly offsetMs: number;
  readonly isSync: boolean;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface OpenTrack {
  readonly description: TrackDescription;
  readonly clock: SampleClock;
  readonly samplesOf?: AudioFormat['samplesOf'] | undefined;
  /** Ends where the next one starts. */
  held: Sample | undefined;
}

/** Frames that wait for the configuration of the other track. */
const maxEarlyFrames = 300;
/** In a row; more than between two keyframes. */
const maxUnusableFrames = 1000;
/** Encoders round their times, so that only more is a gap, a drift or another rate. */
const videoTolerance = { roundingMs: 1.05, maxDeviationMs: 3 };
/** Not to be heard. */
const audioTolerance = { roundingMs: 3, maxDeviationMs: 40 };
/** AAC-LC, 48 kHz, stereo. */
const encodedAudio = describeAac(Buffer.from([0x11, 0x90]));

/**
 * Packages H.264, HEVC, AV1, AAC, Opus, AC-3, E-AC-3 and FLAC in this process. A sample is handed out when its frame
 * arrives. Only audio that must be converted passes through another process.
 */
export class DirectPackager implements Packager {
  readonly #options: DirectPackagerOptions;
  readonly #plan: PackagerPlan;
  readonly #events: PackagerEvents;
  #videoHeader: VideoHeader | undefined;
  #audioCodecName: string | undefined;
  #audioConfig: Buffer | undefined;
  #transcoder: AudioTranscoder | undefined;
  readonly #tracks: Partial<Record<TrackKind, OpenTrack>> = {};
  #isOpen = false;
  #earlyFrames: Frame[] = [];
  #hasKeyframe = false;
  #unusableFrames = 0;
  #isFinishing = false;
  #isOver = false;

  constructor(options: DirectPackagerOptions) {
    this.#options = options;
    this.#plan = options.plan;
    this.#events = options.events;
  }

  write(kind: TrackKind, atMs: number, body: Buffer, isConfig: boolean): boolean {
    if (this.#isFinishing || this.#isOver) return true;
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
    if (this.#isFinishing || this.#isOver) return;
    this.#isFinishing = true;
    try {
      for (const track of [this.#tracks.video, this.#tracks.audio]) {
        if (track !== undefined) this.#release(track, track.clock.lastEndTicks);
      }
    } catch (error) {
      this.#end('failed', messageOf(error));
    }
    await this.#transcoder?.finish();
    this.#end('stopped', '');
  }

  async kill(): Promise<void> {
    void this.#transcoder?.kill();
    this.#end('stopped', '');
  }

  #end(kind: 'stopped' | 'failed', report: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#earlyFrames = [];
    if (kind === 'failed') void this.#transcoder?.kill();
    this.#events.exited({ kind, report });
  }

  #configure(kind: TrackKind, body: Buffer): void {
    if (kind === 'video') {
      this.#videoHeader ??= readVideoHeader(body);
      return;
    }
    this.#audioCodecName ??= describeAudioTag(body)?.codec.name;
    const config = body.subarray(audioHeaderBytes(body));
    if (config.length > 0) this.#audioConfig ??= config;
  }

  #writeAudio(atMs: number, body: Buffer): void {
    const headerBytes = audioHeaderBytes(body);
    if (body.length <= headerBytes) return;
    this.#audioCodecName ??= describeAudioTag(body)?.codec.name;
    // FLV keeps its headers.
    this.#add('audio', atMs, this.#plan.audio === 'aac' ? body : body.subarray(headerBytes), 0, true);
  }

  #writeVideo(atMs: number, body: Buffer): void {
    const header = this.#videoHeader;
    if (header === undefined) {
      this.#dropVideo('frames without a configuration');
      return;
    }
    const payload = body.subarray(videoHeaderBytes(body));
    const data = header.codec === 'av01' ? withoutTemporalDelimiter(payload) : payload;
    const unit = classifyAccessUnit(header.codec, data, header.lengthBytes);
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
    const described: Mutable<PackagedTracks> = {};
    if (hasVideo) {
      const keyframe = this.#earlyFrames.find(({ kind }) => kind === 'video');
      if (this.#videoHeader === undefined || keyframe === undefined) return;
      const { track, frameSeconds } = describeVideo(this.#videoHeader, keyframe.data, this.#plan.color);
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
      const format = this.#describeAudio();
      if (format === undefined) return;
      Object.assign(described, this.#openAudio(format));
    }
    this.#isOpen = true;
    this.#events.tracks(described);
  }

  #describeAudio(): AudioFormat | undefined {
    if (this.#plan.audio === 'aac') return encodedAudio;
    if (this.#audioCodecName === undefined) return undefined;
    const frame = this.#earlyFrames.find(({ kind }) => kind === 'audio')?.data;
    return describeAudio(this.#audioCodecName, this.#audioConfig, frame);
  }

  #openAudio({ track, frameSeconds, samplesOf }: AudioFormat): PackagedTracks {
    const { audio } = this.#plan;
    if (audio !== 'aac') {
      const clock = new SampleClock({ timescale: track.timescale, frameSeconds, ...audioTolerance });
      this.#tracks.audio = { description: track, clock, samplesOf, held: undefined };
    }
    if (audio === 'copy') return { audio: track };
    const { startAudioEncoder, onAudioEncoderFailed } = this.#options;
    if (startAudioEncoder === undefined) throw new AppError('server-error', 'there is no audio encoder');
    this.#transcoder = new AudioTranscoder({
      input: audio === 'aac' ? flvAudioInput : mp4AudioInput(track),
      startEncoder: startAudioEncoder,
      onSample: (sample, atMs) => {
        if (!this.#isOver) this.#events.sample('audio', sample, atMs);
      },
      onFailed: report => onAudioEncoderFailed?.(report),
    });
    return {
      audio: encodedAudio.track,
      isAudioEncoded: true,
      ...(audio === 'both' ? { originalAudio: track } : {}),
    };
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
    if (kind === 'audio' && this.#plan.audio === 'aac') {
      this.#transcoder?.write({ atMs, durationTicks: 0, data });
      return;
    }
    const track = kind === 'video' ? this.#tracks.video : this.#tracks.audio;
    if (track === undefined || this.#isOver) return;
    const { clock, samplesOf } = track;
    const samples = samplesOf?.(data);
    if (samplesOf !== undefined && samples === undefined) return;
    clock.next(atMs, samples);
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
    const atMs = (sample.dtsTicks * 1000) / timescale;
    if (kind === 'video' || this.#transcoder === undefined) {
      this.#events.sample(kind, sample, atMs);
      return;
    }
    this.#events.originalAudio?.(sample, atMs);
    this.#transcoder.write({ atMs, durationTicks: sample.durationTicks, data: sample.data });
  }
}
