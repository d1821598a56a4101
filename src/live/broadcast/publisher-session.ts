import { readRecordParameters } from '../../media/codecs/frame-sizes.ts';
import type { ColorInfo } from '../../media/samples/color-info.ts';
import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import { InBandConfig } from '../../media/samples/in-band-config.ts';
import {
  type CodecConfig,
  codecs,
  isVideoFourCc,
  type MediaEvent,
  type MediaSample,
  type TrackKind,
  timestampMs,
} from '../../media/samples/media-sample.ts';
import { messageOf } from '../../shared/errors.ts';
import type {
  AudioTreatment,
  PackagedMedia,
  Packager,
  PackagerEvents,
  PackagerPlan,
} from '../packaging/packager.ts';
import { AdditionalMedia } from './additional-media.ts';
import { BitrateLimit } from './bitrate-limit.ts';
import type { EndReason } from './broadcast-state.ts';
import type { BroadcastMedia } from './broadcast-subscriber.ts';
import { type CodecCapabilities, judgeAudioCodec, judgeVideoCodec, mustEncode } from './codec-policy.ts';
import { HeldMedia } from './held-media.ts';
import { KeyframeWatch } from './keyframe-watch.ts';
import { RecoveryPoints } from './recovery-points.ts';
import { ResolutionGuard, resolutionTooLargeText } from './resolution-guard.ts';
import type { Timeline } from './timeline.ts';

type PublisherRefusal = Extract<
  EndReason,
  'unsupported-codec' | 'no-keyframe' | 'no-media' | 'limit-exceeded' | 'picture-too-large'
>;

export interface PublisherSessionEvents {
  /**
   * Starts a packager and returns the receiver of its samples. The previous packager gets no more.
   * @param encodesVideo players cannot play its codec
   */
  startPackaging(encodesVideo: boolean): PackagedMedia;
  canStartPackager(): boolean;
  declared(media: DeclaredMedia): void;
  /** @param atMs on the broadcast's clock @param timestampMs as sent */
  arrived(kind: TrackKind, atMs: number, timestampMs: number, bytes: number, isKeyframe: boolean): void;
  mediaPlaced(media: BroadcastMedia): void;
  /** A recovery point replaced the keyframe: some encoders refresh the picture gradually. */
  recoveryPointArrived(): void;
  dropped(): void;
  clockJumped(): void;
  /** A track begins, or changes its codec. @param trackId 0 for the main one */
  trackArrived(kind: TrackKind, trackId: number, codec: string): void;
  /** An additional track is not delivered. */
  trackLeftOut(kind: TrackKind, trackId: number, reason: string): void;
  refused(reason: PublisherRefusal, description: string): void;
  flow(isOpen: boolean): void;
}

interface PublisherSessionOptions {
  readonly isSlate: boolean;
  readonly timeline: Timeline;
  readonly codecCapabilities: CodecCapabilities;
  readonly startPackager: (plan: PackagerPlan, events: PackagerEvents) => Packager;
  readonly events: PublisherSessionEvents;
  readonly keyframeTimeoutMs: number;
  readonly maxPixels: number;
}

interface TimedSample extends BroadcastMedia {
  readonly media: MediaSample;
}

type State =
  | { readonly name: 'holding'; startTimer?: NodeJS.Timeout | undefined }
  | {
      readonly name: 'packaging';
      readonly packager: Packager;
      readonly plan: PackagerPlan;
      readonly codecNames: Readonly<Record<TrackKind, string | undefined>>;
      /** The next clean start needs another packager. */
      isRestartDue: boolean;
    }
  /** Without a packager once it has exited, or if there was none. */
  | { readonly name: 'ended'; readonly packager: Packager | undefined };

/** Encoders send both headers at once. */
const otherTrackWaitMs = 400;
const announcedTrackWaitMs = 1000;
/** Packaging continues without audio after this, so that players do not wait for it. */
const audioTimeoutMs = 5000;

/** Packages one publisher connection. Restarts the packager at a keyframe when tracks or configurations change. */
export class PublisherSession {
  readonly #options: PublisherSessionOptions;
  readonly #resolutionGuard: ResolutionGuard;
  readonly #additional: AdditionalMedia;
  readonly #inBandConfig = new InBandConfig();
  readonly #recoveryPoints = new RecoveryPoints();
  readonly #bitrateLimit = new BitrateLimit();
  readonly #keyframes: KeyframeWatch;
  readonly #decoderConfigs: Partial<Record<TrackKind, CodecConfig>> = {};
  readonly #tracks: Record<TrackKind, AudioTreatment | undefined> = { audio: undefined, video: undefined };
  readonly #codecNames: Record<TrackKind, string | undefined> = { audio: undefined, video: undefined };
  /** Samples until a packager starts: since the first one, or since the last keyframe. */
  readonly #held: HeldMedia<TimedSample>;
  #state: State = { name: 'holding' };
  #encodesVideo = false;
  #declared: DeclaredMedia | undefined;
  #declaredColor: ColorInfo | undefined;
  #lastAudioMs: number | undefined;
  #lastPlacedMs: number | undefined;
  #hasPackaged = false;

  constructor(options: PublisherSessionOptions) {
    this.#options = options;
    this.#resolutionGuard = new ResolutionGuard(options.maxPixels);
    this.#additional = new AdditionalMedia({
      timeline: options.timeline,
      codecCapabilities: options.codecCapabilities,
      arrived: (kind, trackId, codec) => options.events.trackArrived(kind, trackId, codec),
      leftOut: (kind, trackId, reason) => options.events.trackLeftOut(kind, trackId, reason),
    });
    this.#held = new HeldMedia(({ media }) => {
      if (media.kind === 'video') options.events.dropped();
    });
    this.#keyframes = new KeyframeWatch({
      timeoutMs: options.keyframeTimeoutMs,
      hasVideo: () => this.#tracks.video !== undefined,
      noVideoArrived: () => this.#refuseWithoutMedia(),
    });
  }

  media(event: MediaEvent): void {
    if (this.#state.name === 'ended') return;
    if (event.type === 'declared') this.#takeDeclared(event.media);
    else if (event.type === 'color') this.#declaredColor = event.color;
    else if (event.kind !== 'video' || event.trackId !== 0) this.#take(event);
    else for (const each of this.#inBandConfig.take(event)) this.#take(this.#withTrueFrameType(each));
  }

  #take(media: MediaSample | CodecConfig): void {
    if (this.#state.name === 'ended') return;
    if (media.trackId !== 0) {
      const nowMs = this.#lastPlacedMs ?? this.#options.timeline.endMs;
      if (!this.#refusesBitrate(nowMs, media.data.length)) this.#additional.take(media);
      return;
    }
    const { kind } = media;
    // AAC without a configuration cannot be decoded, and video should not wait for it.
    const isBareAac = media.codec === codecs.mp4a && this.#decoderConfigs.audio === undefined;
    if (isBareAac && media.type === 'sample') return;
    if (!this.#acceptsCodec(media)) return;
    const tooLarge = kind === 'video' ? this.#resolutionGuard.find(media) : undefined;
    if (tooLarge !== undefined) {
      this.#refuse('picture-too-large', resolutionTooLargeText(tooLarge, this.#options.maxPixels));
      return;
    }
    if (media.type === 'config') {
      this.#configure(media);
      const { timeline, isSlate, events } = this.#options;
      events.mediaPlaced({ media, atMs: this.#lastPlacedMs ?? timeline.endMs, isSlate });
      return;
    }
    this.#takeSample(media);
  }

  #takeSample(media: MediaSample): void {
    const { timeline, isSlate, events } = this.#options;
    const { kind, isKeyframe, data } = media;
    const timestamp = timestampMs(media);
    const { atMs, isClockJump } = timeline.place(kind, timestamp);
    if (this.#refusesBitrate(atMs, data.length)) return;
    if (isClockJump) events.clockJumped();
    events.arrived(kind, atMs, timestamp, data.length, isKeyframe);
    if (isKeyframe) this.#keyframes.keyframeArrived();
    else {
      const problem = this.#keyframes.problemAt(atMs, kind);
      if (problem !== undefined) {
        this.#refuse('no-keyframe', problem);
        return;
      }
    }
    if (kind === 'audio') this.#lastAudioMs = atMs;
    else this.#detectLostAudio(atMs);
    this.#lastPlacedMs = atMs;
    const timed = { media, atMs, isSlate };
    events.mediaPlaced(timed);
    this.#holdOrWrite(timed);
  }

  async finish(): Promise<void> {
    this.#end();
    await this.#packager?.finish();
  }

  async kill(): Promise<void> {
    this.#end();
    await this.#packager?.kill();
  }

  get #packager(): Packager | undefined {
    return this.#state.name === 'holding' ? undefined : this.#state.packager;
  }

  #packagerGone(): void {
    this.#state = this.#state.name === 'ended' ? { name: 'ended', packager: undefined } : { name: 'holding' };
    this.#held.take();
    this.#additional.end();
    this.#options.events.flow(true);
  }

  #end(): void {
    if (this.#state.name === 'holding') clearTimeout(this.#state.startTimer);
    this.#state = { name: 'ended', packager: this.#packager };
    this.#held.take();
    this.#additional.end();
    this.#keyframes.stop();
  }

  #refusesBitrate(atMs: number, bytes: number): boolean {
    if (!this.#bitrateLimit.isExceeded(atMs, bytes)) return false;
    this.#refuse(
      'limit-exceeded',
      'More than 128 Mbit/s arrived, which is the limit. Choose a lower bitrate in the encoder.',
    );
    return true;
  }

  #withTrueFrameType(media: MediaSample | CodecConfig): MediaSample | CodecConfig {
    if (!this.#recoveryPoints.includes(media)) return media;
    this.#keyframes.recoveryPointArrived();
    this.#options.events.recoveryPointArrived();
    return { ...media, isKeyframe: false, tagBody: undefined };
  }

  #refuseWithoutMedia(): void {
    if (this.#tracks.audio !== undefined) return;
    const seconds = Math.round(this.#options.keyframeTimeoutMs / 1000);
    this.#refuse('no-media', `No audio or video arrived for ${seconds} s. Check the sources in the encoder.`);
  }

  #refuse(reason: PublisherRefusal, description: string): void {
    if (this.#state.name === 'ended') return;
    this.#end();
    this.#options.events.refused(reason, description);
  }

  #takeDeclared(declared: DeclaredMedia): void {
    const state = this.#state;
    const isVideoNews = declared.isVideoArriving === true && this.#declared?.isVideoArriving !== true;
    this.#declared = declared;
    this.#options.events.declared(declared);
    if (!isVideoNews || state.name !== 'holding' || state.startTimer === undefined) return;
    clearTimeout(state.startTimer);
    state.startTimer = undefined;
    this.#startWhenReady(state);
  }

  #acceptsCodec({ type, kind, codec }: MediaSample | CodecConfig): boolean {
    const isVideo = kind === 'video';
    const isKnown = (isVideo ? this.#codecNames.video : this.#codecNames.audio) === codec.name;
    if ((isVideo ? this.#tracks.video : this.#tracks.audio) !== undefined && isKnown) return true;
    const { codecCapabilities } = this.#options;
    const verdict =
      kind === 'video'
        ? judgeVideoCodec(codec, codecCapabilities)
        : judgeAudioCodec(codec, codecCapabilities);
    if (verdict.take === 'refuse') {
      this.#refuse('unsupported-codec', verdict.description);
      return false;
    }
    // A configuration alone starts no track while a packager runs: some encoders repeat that of a track they no
    // longer send.
    if (this.#state.name === 'packaging' && type === 'config') return true;
    this.#tracks[kind] = verdict.take;
    this.#codecNames[kind] = codec.name;
    this.#options.events.trackArrived(kind, 0, codec.name);
    if (kind === 'video') {
      this.#encodesVideo = mustEncode(codec);
      this.#keyframes.restart();
    }
    this.#requestRestart();
    return true;
  }

  #configure(config: CodecConfig): void {
    const { kind, codec, data } = config;
    const former = this.#decoderConfigs[kind];
    if (former?.codec === codec && former.data.equals(data)) return;
    this.#decoderConfigs[kind] = config;
    const { frameSeconds } = (isVideoFourCc(codec.fourCc) && readRecordParameters(codec.fourCc, data)) || {};
    if (frameSeconds !== undefined) this.#options.timeline.expectFrames(frameSeconds);
    if (former !== undefined) this.#requestRestart();
  }

  #detectLostAudio(videoMs: number): void {
    const state = this.#state;
    if (state.name !== 'packaging' || state.plan.audio === 'none') return;
    if (this.#lastAudioMs === undefined) return;
    if (videoMs - this.#lastAudioMs < audioTimeoutMs) return;
    this.#tracks.audio = undefined;
    this.#lastAudioMs = undefined;
    state.isRestartDue = true;
  }

  #requestRestart(): void {
    if (this.#state.name === 'packaging') this.#state.isRestartDue = true;
  }

  #holdOrWrite(timed: TimedSample): void {
    const { kind, isKeyframe } = timed.media;
    const state = this.#state;
    if (state.name === 'packaging') {
      const startsCleanly = isKeyframe || (this.#tracks.video === undefined && kind === 'audio');
      if (!state.isRestartDue || !startsCleanly) {
        this.#write(timed);
        return;
      }
      void state.packager.finish();
      this.#packagerGone();
      this.#start([timed]);
      return;
    }
    if (state.name === 'ended') return;
    if (kind === 'video' && !isKeyframe && !this.#hasKeyframeHeld) {
      // Counts nothing before the first packager: the publisher started between keyframes.
      if (this.#hasPackaged) this.#options.events.dropped();
      return;
    }
    this.#held.add(timed);
    this.#startWhenReady(state);
  }

  #startWhenReady(state: Extract<State, { name: 'holding' }>): void {
    const { video, audio } = this.#tracks;
    if (video !== undefined && !this.#hasKeyframeHeld) return;
    const missing: TrackKind | undefined =
      video === undefined ? 'video' : audio === undefined ? 'audio' : undefined;
    if (missing === undefined) {
      this.#start(this.#held.take());
      return;
    }
    if (state.startTimer !== undefined) return;
    const waitMs = this.#waitMsFor(missing);
    state.startTimer = setTimeout(() => {
      state.startTimer = undefined;
      const lacksKeyframe = this.#tracks.video !== undefined && !this.#hasKeyframeHeld;
      if (this.#held.samples.length > 0 && !lacksKeyframe) this.#start(this.#held.take());
    }, waitMs);
  }

  #waitMsFor(missing: TrackKind): number {
    const { hasAudio, isVideoArriving } = this.#declared ?? {};
    if (missing === 'video') return isVideoArriving ? this.#options.keyframeTimeoutMs : announcedTrackWaitMs;
    if (hasAudio === undefined) return otherTrackWaitMs;
    return hasAudio ? announcedTrackWaitMs : otherTrackWaitMs / 4;
  }

  get #hasKeyframeHeld(): boolean {
    return this.#held.samples.some(isKeyframeHeld);
  }

  #start(held: TimedSample[]): void {
    if (this.#state.name === 'holding') clearTimeout(this.#state.startTimer);
    if (!this.#options.events.canStartPackager()) {
      this.#refuse(
        'limit-exceeded',
        'The encoder changed its settings or reconnected too often. Do not change the codec, resolution or audio settings while live.',
      );
      return;
    }
    const plan: PackagerPlan = {
      hasVideo: this.#tracks.video !== undefined,
      audio: this.#tracks.audio ?? 'none',
      framesPerSecond: this.#declared?.framesPerSecond,
      color: this.#declaredColor,
    };
    const inner = this.#options.events.startPackaging(plan.hasVideo && this.#encodesVideo);
    let packager: Packager;
    try {
      packager = this.#options.startPackager(plan, {
        ...inner,
        drained: () => this.#options.events.flow(true),
        dropped: () => this.#options.events.dropped(),
        exited: exit => {
          if (this.#packager === packager) this.#packagerGone();
          inner.exited(exit);
        },
      });
    } catch (error) {
      this.#packagerGone();
      inner.exited({ kind: 'failed', report: messageOf(error) });
      return;
    }
    const codecNames = { ...this.#codecNames };
    this.#state = { name: 'packaging', packager, plan, codecNames, isRestartDue: false };
    this.#hasPackaged = true;
    // The first picture may have waited for the next one, and ffmpeg looks for it before later audio.
    held.sort((a, b) => a.atMs - b.atMs || (a.media.kind === 'video' ? -1 : 1));
    const firstKeyframe = held.findIndex(isKeyframeHeld);
    const startMs = held[Math.max(0, firstKeyframe)]?.atMs ?? 0;
    // Audio may so far consist of its configuration only.
    if (plan.audio !== 'none') this.#lastAudioMs ??= startMs;
    this.#additional.begin(inner.additional);
    for (const kind of ['video', 'audio'] as const) {
      const config = this.#decoderConfigs[kind];
      if (config === undefined || this.#tracks[kind] === undefined) continue;
      if (config.codec.name === this.#codecNames[kind]) packager.write(config, startMs);
    }
    for (const timed of held) {
      // Audio before the first video frame is left out.
      if (timed.atMs >= startMs || !plan.hasVideo) this.#write(timed);
    }
    this.#additional.release(startMs);
  }

  #write({ media, atMs }: TimedSample): void {
    const { kind, codec } = media;
    const state = this.#state;
    if (state.name !== 'packaging') return;
    const { packager, plan, codecNames } = state;
    if (kind === 'audio' ? plan.audio === 'none' : !plan.hasVideo) return;
    if (codec.name !== (kind === 'video' ? codecNames.video : codecNames.audio)) {
      if (kind === 'video') this.#options.events.dropped();
      return;
    }
    if (!packager.write(media, atMs)) this.#options.events.flow(false);
  }
}

function isKeyframeHeld({ media }: TimedSample): boolean {
  return media.isKeyframe;
}
