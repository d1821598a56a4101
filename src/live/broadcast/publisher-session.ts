import { classifyAccessUnit } from '../../media/codecs/access-unit.ts';
import { readVideoConfig } from '../../media/codecs/frame-sizes.ts';
import type { ColorInfo } from '../../media/samples/color-info.ts';
import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import { InBandConfig } from '../../media/samples/in-band-config.ts';
import {
  type CodecConfig,
  codecs,
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
import type { EndReason } from './broadcast-state.ts';
import type { BroadcastMedia } from './broadcast-subscriber.ts';
import { type CodecCapabilities, judgeAudioCodec, judgeVideoCodec } from './codec-policy.ts';
import { ResolutionGuard, resolutionTooLargeText } from './resolution-guard.ts';
import type { Timeline } from './timeline.ts';

type PublisherRefusal = Extract<
  EndReason,
  'unsupported-codec' | 'no-keyframe' | 'no-media' | 'limit-exceeded' | 'picture-too-large'
>;

export interface PublisherSessionEvents {
  /** Starts a packager and returns the receiver of its samples. The previous packager gets no more. */
  startPackaging(): PackagedMedia;
  canStartPackager(): boolean;
  declared(media: DeclaredMedia): void;
  /** @param atMs on the broadcast's clock @param timestampMs as sent */
  arrived(kind: TrackKind, atMs: number, timestampMs: number, bytes: number, isKeyframe: boolean): void;
  mediaPlaced(media: BroadcastMedia): void;
  /** A recovery point replaced the keyframe: some encoders refresh the picture gradually. */
  recoveryPointArrived(): void;
  dropped(count: number): void;
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

/** Encoders send both headers at once. */
const otherTrackWaitMs = 400;
const announcedTrackWaitMs = 1000;
/** Packaging continues without audio after this, so that players do not wait for it. */
const audioTimeoutMs = 5000;
/** Time of video with recovery points and without any keyframe. */
const maxOnlyRefreshedMs = 5000;
const maxHeldSamples = 2000;
const maxHeldBytes = 16 * 1024 * 1024;
/** Limits media to 128 Mbit/s, since later buffers are bounded in seconds of media. */
const rateWindowMs = 2000;
const maxRateWindowBytes = 32 * 1024 * 1024;

/** Packages one publisher connection. Restarts the packager at a keyframe when tracks or configurations change. */
export class PublisherSession {
  readonly #options: PublisherSessionOptions;
  readonly #resolutionGuard: ResolutionGuard;
  readonly #additional: AdditionalMedia;
  readonly #inBandConfig = new InBandConfig();
  #decoderConfigs: Partial<Record<TrackKind, CodecConfig>> = {};
  #tracks: Record<TrackKind, AudioTreatment | undefined> = { audio: undefined, video: undefined };
  #codecNames: Record<TrackKind, string | undefined> = { audio: undefined, video: undefined };
  #announcedTracks: Record<TrackKind, boolean | undefined> = { audio: undefined, video: undefined };
  #declaredFramesPerSecond: number | undefined;
  #declaredColor: ColorInfo | undefined;
  #packager: Packager | undefined;
  #plan: PackagerPlan | undefined;
  #planCodecNames: Record<TrackKind, string | undefined> = { audio: undefined, video: undefined };
  /** Samples held until a packager starts: since the first one, or since the last keyframe. */
  #held: TimedSample[] = [];
  #heldBytes = 0;
  #startTimer: NodeJS.Timeout | undefined;
  #keyframeTimer: NodeJS.Timeout | undefined;
  #isKeyframeOverdue = false;
  #lastAudioMs: number | undefined;
  #lastPlacedMs: number | undefined;
  #rateWindowStartMs = 0;
  #rateWindowBytes = 0;
  /** Taken from the H.264 configuration. */
  #nalLengthBytes: number | undefined;
  /** Time of the first video frame, until there is a keyframe. */
  #withoutKeyframeSinceMs: number | undefined;
  #hasKeyframe = false;
  #hasRecoveryPoint = false;
  #isRestartDue = false;
  #hasPackaged = false;
  #isEnded = false;

  constructor(options: PublisherSessionOptions) {
    this.#options = options;
    this.#resolutionGuard = new ResolutionGuard(options.maxPixels);
    this.#additional = new AdditionalMedia({
      timeline: options.timeline,
      codecCapabilities: options.codecCapabilities,
      arrived: (kind, trackId, codec) => options.events.trackArrived(kind, trackId, codec),
      leftOut: (kind, trackId, reason) => options.events.trackLeftOut(kind, trackId, reason),
    });
    this.#expectKeyframe();
  }

  media(event: MediaEvent): void {
    if (this.#isEnded) return;
    if (event.type === 'declared') this.#takeDeclared(event.media);
    else if (event.type === 'color') this.#declaredColor = event.color;
    else if (event.kind !== 'video' || event.trackId !== 0) this.#take(event);
    else for (const each of this.#inBandConfig.take(event)) this.#take(this.#withTrueFrameType(each));
  }

  #take(media: MediaSample | CodecConfig): void {
    if (this.#isEnded) return;
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
    if (kind === 'video') this.#hasKeyframe ||= isKeyframe;
    if (isKeyframe) this.#expectKeyframe();
    else if (this.#isKeyframeOverdue || this.#onlyRefreshes(kind, atMs)) {
      this.#refuseWithoutKeyframe();
      return;
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

  #packagerGone(): void {
    this.#packager = undefined;
    this.#plan = undefined;
    this.#takeHeld();
    this.#additional.end();
    this.#options.events.flow(true);
  }

  #end(): void {
    this.#isEnded = true;
    this.#takeHeld();
    this.#additional.end();
    clearTimeout(this.#startTimer);
    clearTimeout(this.#keyframeTimer);
  }

  #takeHeld(): TimedSample[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }

  #refusesBitrate(atMs: number, bytes: number): boolean {
    if (atMs - this.#rateWindowStartMs >= rateWindowMs) {
      this.#rateWindowStartMs = atMs;
      this.#rateWindowBytes = 0;
    }
    this.#rateWindowBytes += bytes;
    if (this.#rateWindowBytes <= maxRateWindowBytes) return false;
    this.#refuse(
      'limit-exceeded',
      'More than 128 Mbit/s arrived, which is the limit. Choose a lower bitrate in the encoder.',
    );
    return true;
  }

  /** Encoders mark recovery points as keyframes, which players, restreams and recordings cannot start with. */
  #withTrueFrameType(media: MediaSample | CodecConfig): MediaSample | CodecConfig {
    if (media.codec !== codecs.avc1) return media;
    if (media.type === 'config') this.#nalLengthBytes = readVideoConfig('avc1', media.data).lengthBytes;
    if (media.type === 'config' || !media.isKeyframe || this.#nalLengthBytes === undefined) return media;
    if (classifyAccessUnit('avc1', media.data, this.#nalLengthBytes) !== 'recovery') return media;
    this.#hasRecoveryPoint = true;
    this.#options.events.recoveryPointArrived();
    return { ...media, isKeyframe: false, tagBody: undefined };
  }

  /** Tells whether video begins without a keyframe and is refreshed gradually: nobody can ever watch it. */
  #onlyRefreshes(kind: TrackKind, atMs: number): boolean {
    if (kind === 'audio' || this.#hasKeyframe) return false;
    this.#withoutKeyframeSinceMs ??= atMs;
    return this.#hasRecoveryPoint && atMs - this.#withoutKeyframeSinceMs > maxOnlyRefreshedMs;
  }

  #refuseWithoutKeyframe(): void {
    const ms = this.#isKeyframeOverdue ? this.#options.keyframeTimeoutMs : maxOnlyRefreshedMs;
    const problem = `No keyframe arrived for ${Math.round(ms / 1000)} s`;
    this.#refuse(
      'no-keyframe',
      this.#hasRecoveryPoint
        ? `${problem}: the encoder uses periodic intra refresh, and players cannot start. Turn off intra refresh, and set the keyframe interval to 2 s in the encoder.`
        : `${problem}. Set the keyframe interval to 2 s in the encoder.`,
    );
  }

  #refuse(reason: PublisherRefusal, description: string): void {
    if (this.#isEnded) return;
    this.#end();
    this.#options.events.refused(reason, description);
  }

  #expectKeyframe(): void {
    clearTimeout(this.#keyframeTimer);
    this.#isKeyframeOverdue = false;
    const { keyframeTimeoutMs } = this.#options;
    const seconds = Math.round(keyframeTimeoutMs / 1000);
    this.#keyframeTimer = setTimeout(() => {
      if (this.#tracks.video !== undefined) {
        // A publisher that sends nothing at all is lost before long.
        this.#isKeyframeOverdue = true;
      } else if (this.#tracks.audio === undefined) {
        this.#refuse(
          'no-media',
          `No audio or video arrived for ${seconds} s. Check the sources in the encoder.`,
        );
      }
    }, keyframeTimeoutMs);
  }

  #takeDeclared(declared: DeclaredMedia): void {
    this.#declaredFramesPerSecond = declared.framesPerSecond;
    this.#announcedTracks = { audio: declared.hasAudio, video: declared.hasVideo };
    this.#options.events.declared(declared);
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
    if (this.#plan !== undefined && type === 'config') return true;
    this.#tracks[kind] = verdict.take;
    this.#codecNames[kind] = codec.name;
    this.#options.events.trackArrived(kind, 0, codec.name);
    if (kind === 'video') this.#expectKeyframe();
    if (this.#plan !== undefined) this.#isRestartDue = true;
    return true;
  }

  #configure(config: CodecConfig): void {
    const { kind, codec, data } = config;
    const former = this.#decoderConfigs[kind];
    if (former?.codec === codec && former.data.equals(data)) return;
    this.#decoderConfigs[kind] = config;
    if (former !== undefined && this.#plan !== undefined) this.#isRestartDue = true;
  }

  #detectLostAudio(videoMs: number): void {
    if (this.#plan === undefined || this.#plan.audio === 'none' || this.#lastAudioMs === undefined) return;
    if (videoMs - this.#lastAudioMs < audioTimeoutMs) return;
    this.#tracks.audio = undefined;
    this.#lastAudioMs = undefined;
    this.#isRestartDue = true;
  }

  #holdOrWrite(timed: TimedSample): void {
    const { kind, isKeyframe, data } = timed.media;
    const startsCleanly = isKeyframe || (this.#tracks.video === undefined && kind === 'audio');
    if (this.#packager !== undefined) {
      if (!this.#isRestartDue || !startsCleanly) {
        this.#write(timed);
        return;
      }
      this.#isRestartDue = false;
      void this.#packager.finish();
      this.#packagerGone();
      this.#held.push(timed);
      this.#start();
      return;
    }
    if (kind === 'video' && !isKeyframe && !this.#held.some(isKeyframeHeld)) {
      // Counts nothing before the first packager: the publisher started between keyframes.
      if (this.#hasPackaged) this.#options.events.dropped(1);
      return;
    }
    this.#held.push(timed);
    this.#heldBytes += data.length;
    while (this.#held.length > maxHeldSamples || this.#heldBytes > maxHeldBytes) {
      const oldest = this.#held.shift()?.media;
      this.#heldBytes -= oldest?.data.length ?? 0;
      if (oldest?.kind === 'video') this.#options.events.dropped(1);
    }
    this.#startWhenReady();
  }

  #startWhenReady(): void {
    const { video, audio } = this.#tracks;
    const hasKeyframe = this.#held.some(isKeyframeHeld);
    if (video !== undefined && !hasKeyframe) return;
    const missing: TrackKind | undefined =
      video === undefined ? 'video' : audio === undefined ? 'audio' : undefined;
    if (missing === undefined) {
      this.#start();
      return;
    }
    if (this.#startTimer !== undefined) return;
    const waitMs =
      this.#announcedTracks[missing] === true || missing === 'video'
        ? announcedTrackWaitMs
        : this.#announcedTracks[missing] === false
          ? otherTrackWaitMs / 4
          : otherTrackWaitMs;
    this.#startTimer = setTimeout(() => {
      this.#startTimer = undefined;
      const isStillWaiting = this.#packager === undefined && this.#held.length > 0;
      const lacksKeyframe = this.#tracks.video !== undefined && !this.#held.some(isKeyframeHeld);
      if (isStillWaiting && !lacksKeyframe) this.#start();
    }, waitMs);
  }

  #start(): void {
    clearTimeout(this.#startTimer);
    this.#startTimer = undefined;
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
      framesPerSecond: this.#declaredFramesPerSecond,
      color: this.#declaredColor,
    };
    const inner = this.#options.events.startPackaging();
    let packager: Packager;
    try {
      packager = this.#options.startPackager(plan, {
        ...inner,
        drained: () => this.#options.events.flow(true),
        dropped: count => this.#options.events.dropped(count),
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
    this.#packager = packager;
    this.#hasPackaged = true;
    this.#plan = plan;
    this.#planCodecNames = { ...this.#codecNames };
    this.#isRestartDue = false;
    // The first picture may have waited for the next one, and ffmpeg looks for it before later audio.
    const held = this.#takeHeld().sort((a, b) => a.atMs - b.atMs || (a.media.kind === 'video' ? -1 : 1));
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
    if (this.#plan === undefined || (kind === 'audio' ? this.#plan.audio === 'none' : !this.#plan.hasVideo))
      return;
    const planCodecName = kind === 'video' ? this.#planCodecNames.video : this.#planCodecNames.audio;
    if (codec.name !== planCodecName) {
      if (kind === 'video') this.#options.events.dropped(1);
      return;
    }
    const isOpen = this.#packager?.write(media, atMs) ?? true;
    if (!isOpen) this.#options.events.flow(false);
  }
}

function isKeyframeHeld({ media }: TimedSample): boolean {
  return media.isKeyframe;
}
