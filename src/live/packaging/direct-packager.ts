import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { classifyAccessUnit, withoutTemporalDelimiter } from '../../media/codecs/access-unit.ts';
import {
  type CodecConfig,
  compositionMs,
  type MediaSample,
  type TrackKind,
} from '../../media/samples/media-sample.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import { maxTargetDurationSeconds } from '../broadcast/target-durations.ts';
import { flvAudioInput, mp4AudioInput } from '../transcode/audio-input.ts';
import { AudioTranscoder, type StartAudioEncoder } from '../transcode/audio-transcoder.ts';
import type { PackagedTracks, Packager, PackagerEvents, PackagerPlan } from './packager.ts';
import { SampleClock } from './sample-clock.ts';
import {
  type AudioFormat,
  describeAac,
  describeAudio,
  describeVideo,
  readVideoHeader,
  type VideoHeader,
} from './track-format.ts';

interface DirectPackagerOptions {
  readonly plan: PackagerPlan;
  readonly events: PackagerEvents;
  /** Starts an encoder for audio that must be converted. */
  readonly startAudioEncoder?: StartAudioEncoder;
  readonly onAudioEncoderFailed?: (report: string) => void;
}

interface Frame {
  readonly media: MediaSample;
  readonly atMs: number;
  readonly data: Buffer;
  readonly isSync: boolean;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface OpenTrack {
  readonly description: TrackDescription;
  readonly clock: SampleClock;
  readonly samplesOf?: AudioFormat['samplesOf'] | undefined;
  /** Ends where the next one starts. */
  held: Sample | undefined;
  /** End of a repeated picture: the next one does not start before. */
  repeatedUntilTicks: number;
}

/** Frames that wait for the configuration of the other track. */
const maxEarlyFrames = 300;
/** Maximum unusable frames in a row; more than between two keyframes. */
const maxUnusableFrames = 1000;
/** Encoders round their times, so that only more is a gap, a drift or another rate. */
const videoTolerance = { roundingMs: 1.05, maxDeviationMs: 3 };
/** Tolerance of audio that nobody hears. */
const audioTolerance = { roundingMs: 3, maxDeviationMs: 40 };
/** A picture that lasts longer is listed when it ends, since its segment would be dated in the future. */
const slowFrameSeconds = 1.5;
/** A longer picture fills no segment, and is repeated. */
const maxFrameSeconds = maxTargetDurationSeconds;
/** Rounding allows segments that are longer. */
const frameSlackSeconds = 0.4;
const repeatPollMs = 1000;
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
  #newestAudioMs = Number.NEGATIVE_INFINITY;
  /** Runs while the newest picture may have to be repeated. */
  #repeatTimer: NodeJS.Timeout | undefined;

  constructor(options: DirectPackagerOptions) {
    this.#options = options;
    this.#plan = options.plan;
    this.#events = options.events;
  }

  write(media: MediaSample | CodecConfig, atMs: number): boolean {
    if (this.#isFinishing || this.#isOver) return true;
    try {
      if (media.type === 'config') this.#configure(media);
      else if (media.kind === 'audio') this.#writeAudio(media, atMs);
      else this.#writeVideo(media, atMs);
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
    clearTimeout(this.#repeatTimer);
    this.#earlyFrames = [];
    if (kind === 'failed') void this.#transcoder?.kill();
    this.#events.exited({ kind, report });
  }

  #configure(config: CodecConfig): void {
    if (config.kind === 'video') {
      this.#videoHeader ??= readVideoHeader(config);
      return;
    }
    this.#audioCodecName ??= config.codec.name;
    if (config.data.length > 0) this.#audioConfig ??= config.data;
  }

  #writeAudio(media: MediaSample, atMs: number): void {
    if (media.data.length === 0) return;
    this.#audioCodecName ??= media.codec.name;
    this.#add({ media, atMs, data: media.data, isSync: true });
  }

  #writeVideo(media: MediaSample, atMs: number): void {
    const header = this.#videoHeader;
    if (header === undefined) {
      this.#dropVideo('frames without a configuration');
      return;
    }
    const data = header.codec === 'av01' ? withoutTemporalDelimiter(media.data) : media.data;
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
    this.#add({ media, atMs, data, isSync: unit === 'sync' });
  }

  #dropVideo(problem: string): void {
    this.#unusableFrames += 1;
    if (this.#unusableFrames > maxUnusableFrames) throw new AppError('media-malformed', problem);
    this.#events.dropped();
  }

  #add(frame: Frame): void {
    if (this.#isOpen) {
      this.#place(frame);
      return;
    }
    this.#earlyFrames.push(frame);
    this.#open();
    if (this.#isOpen) {
      const early = this.#earlyFrames;
      this.#earlyFrames = [];
      for (const each of early) this.#place(each);
    } else if (this.#earlyFrames.length > maxEarlyFrames) {
      throw new AppError('media-malformed', 'one of its tracks never began');
    }
  }

  /** Describes the tracks once a frame and the configurations of all are there. */
  #open(): void {
    const { hasVideo, audio } = this.#plan;
    const described: Mutable<PackagedTracks> = {};
    if (hasVideo) {
      const keyframe = this.#earlyFrames.find(({ media }) => media.kind === 'video');
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
        repeatedUntilTicks: 0,
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
    const frame = this.#earlyFrames.find(({ media }) => media.kind === 'audio')?.data;
    return describeAudio(this.#audioCodecName, this.#audioConfig, frame);
  }

  #openAudio({ track, frameSeconds, samplesOf }: AudioFormat): PackagedTracks {
    const { audio } = this.#plan;
    if (audio !== 'aac') {
      const clock = new SampleClock({ timescale: track.timescale, frameSeconds, ...audioTolerance });
      this.#tracks.audio = { description: track, clock, samplesOf, held: undefined, repeatedUntilTicks: 0 };
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

  /**
   * Lists likely frame durations. Some encoders count fields instead of frames, and some leave the rate to the
   * metadata.
   */
  #declaredFrameSeconds(frameSeconds: number | undefined): number[] {
    const { framesPerSecond } = this.#plan;
    return [
      ...(frameSeconds === undefined ? [] : [frameSeconds, 2 * frameSeconds, frameSeconds / 2]),
      ...(framesPerSecond === undefined ? [] : [1 / framesPerSecond]),
    ];
  }

  #place({ media, atMs, data, isSync }: Frame): void {
    const { kind } = media;
    if (kind === 'audio') this.#newestAudioMs = atMs;
    if (kind === 'audio' && this.#plan.audio === 'aac') {
      this.#transcoder?.write({ atMs, durationTicks: 0, data, media });
      return;
    }
    const track = kind === 'video' ? this.#tracks.video : this.#tracks.audio;
    if (track === undefined || this.#isOver) return;
    const { clock, samplesOf } = track;
    const samples = samplesOf?.(data);
    if (samplesOf !== undefined && samples === undefined) return;
    clock.next(atMs, samples);
    this.#release(track, clock.startTicks);
    const startTicks = Math.max(clock.startTicks, track.repeatedUntilTicks);
    const { endTicks } = clock;
    const offsetMs = compositionMs(media);
    const durationTicks = endTicks === undefined ? 0 : Math.max(1, endTicks - startTicks);
    const sample = {
      trackId: track.description.id,
      dtsTicks: startTicks,
      durationTicks,
      compositionOffsetTicks: offsetMs === 0 ? 0 : clock.compositionOffset(offsetMs),
      isSync,
      data,
    };
    const isSlow = kind === 'video' && durationTicks > slowFrameSeconds * track.description.timescale;
    if (endTicks === undefined || isSlow) this.#hold(track, sample);
    else this.#emit(track, sample);
  }

  #hold(track: OpenTrack, sample: Sample): void {
    track.held = sample;
    if (sample.isSync && track === this.#tracks.video) this.#watchHeld(track);
  }

  /** Repeats a picture that lasts, by the audio beside it or by its time here. */
  #watchHeld(track: OpenTrack): void {
    const heldAtMs = performance.now();
    const startMs = ((track.held?.dtsTicks ?? 0) * 1000) / track.description.timescale;
    const poll = () => {
      const nowMs = Math.max(startMs + performance.now() - heldAtMs, this.#newestAudioMs);
      this.#repeatFrame(track, (nowMs * track.description.timescale) / 1000);
      this.#repeatTimer = setTimeout(poll, repeatPollMs);
    };
    this.#repeatTimer = setTimeout(poll, repeatPollMs);
  }

  #release(track: OpenTrack, endTicks: number): void {
    const { held } = track;
    if (held === undefined) return;
    this.#repeatFrame(track, endTicks);
    const { dtsTicks } = track.held ?? held;
    track.held = undefined;
    if (track === this.#tracks.video) clearTimeout(this.#repeatTimer);
    const durationTicks = endTicks - dtsTicks;
    if (durationTicks > 0 || dtsTicks !== track.repeatedUntilTicks)
      this.#emit(track, { ...held, dtsTicks, durationTicks });
  }

  /** Ends a keyframe that has lasted as long as a segment may until now, and shows it again. */
  #repeatFrame(track: OpenTrack, nowTicks: number): void {
    const { timescale } = track.description;
    const durationTicks = maxFrameSeconds * timescale;
    const maxTicks = durationTicks + frameSlackSeconds * timescale;
    while (track.held?.isSync === true && nowTicks - track.held.dtsTicks >= maxTicks) {
      const { held } = track;
      this.#emit(track, { ...held, durationTicks });
      track.repeatedUntilTicks = held.dtsTicks + durationTicks;
      track.held = { ...held, dtsTicks: track.repeatedUntilTicks };
    }
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
