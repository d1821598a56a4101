import { classifyAccessUnit } from '../../media/codecs/access-unit.ts';
import { readVideoConfig } from '../../media/codecs/frame-sizes.ts';
import { readColorInfo } from '../../media/flv/color-info.ts';
import { readDeclaredMedia } from '../../media/flv/declared-media.ts';
import type { FlvTag } from '../../media/flv/flv-tag.ts';
import {
  describeAudioTag,
  describeVideoTag,
  type TagDescription,
  videoHeaderBytes,
} from '../../media/flv/flv-tag.ts';
import type { ColorInfo } from '../../media/samples/color-info.ts';
import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import { InBandConfig } from '../../media/samples/in-band-config.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { messageOf } from '../../shared/errors.ts';
import type {
  AudioTreatment,
  PackagedMedia,
  Packager,
  PackagerEvents,
  PackagerPlan,
} from '../packaging/packager.ts';
import { AdditionalTags } from './additional-tags.ts';
import type { EndReason } from './broadcast-state.ts';
import type { BroadcastTag } from './broadcast-subscriber.ts';
import { type CodecCapabilities, judgeAudioCodec, judgeVideoCodec } from './codec-policy.ts';
import { ResolutionGuard, resolutionTooLargeText } from './resolution-guard.ts';
import type { Timeline } from './timeline.ts';

type PublisherRefusal = Extract<
  EndReason,
  'unsupported-codec' | 'no-keyframe' | 'no-media' | 'limit-exceeded' | 'picture-too-large'
>;

export interface PublisherSessionEvents {
  /** Starts a packager and returns the receiver of its samples. The previous packager gets no more tags. */
  startPackaging(): PackagedMedia;
  canStartPackager(): boolean;
  declared(media: DeclaredMedia): void;
  /** @param atMs on the broadcast's clock @param timestampMs as sent */
  arrived(kind: TrackKind, atMs: number, timestampMs: number, bytes: number, isKeyframe: boolean): void;
  tagTimed(tag: BroadcastTag): void;
  /** In place of a keyframe, as encoders send that refresh the picture gradually. */
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

interface TimedTag extends BroadcastTag {
  readonly codecName: string;
}

/** Encoders send both headers at once. */
const otherTrackWaitMs = 400;
const announcedTrackWaitMs = 1000;
/** Packaging continues without audio after this, so that players do not wait for it. */
const audioTimeoutMs = 5000;
/** Time of video with recovery points and without any keyframe. */
const maxOnlyRefreshedMs = 5000;
const FRAME_TYPE_INTER = 2;
const maxHeldTags = 2000;
const maxHeldBytes = 16 * 1024 * 1024;
/** Limits media to 128 Mbit/s, since later buffers are bounded in seconds of media. */
const rateWindowMs = 2000;
const maxRateWindowBytes = 32 * 1024 * 1024;

/** Packages one publisher connection. Restarts the packager at a keyframe when tracks or configurations change. */
export class PublisherSession {
  readonly #options: PublisherSessionOptions;
  readonly #resolutionGuard: ResolutionGuard;
  readonly #additional: AdditionalTags;
  readonly #inBandConfig = new InBandConfig();
  #decoderConfigs: Partial<Record<TrackKind, { readonly codecName: string; readonly body: Buffer }>> = {};
  #tracks: Record<TrackKind, AudioTreatment | undefined> = { audio: undefined, video: undefined };
  #codecNames: Record<TrackKind, string | undefined> = { audio: undefined, video: undefined };
  #announcedTracks: Record<TrackKind, boolean | undefined> = { audio: undefined, video: undefined };
  #declaredFramesPerSecond: number | undefined;
  #declaredColor: ColorInfo | undefined;
  #packager: Packager | undefined;
  #plan: PackagerPlan | undefined;
  #planCodecNames: Record<TrackKind, string | undefined> = { audio: undefined, video: undefined };
  /** Until a packager starts: tags since the first one, or since the last keyframe. */
  #heldTags: TimedTag[] = [];
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
    this.#additional = new AdditionalTags({
      timeline: options.timeline,
      codecCapabilities: options.codecCapabilities,
      arrived: (kind, trackId, codec) => options.events.trackArrived(kind, trackId, codec),
      leftOut: (kind, trackId, reason) => options.events.trackLeftOut(kind, trackId, reason),
    });
    this.#expectKeyframe();
  }

  tag(tag: FlvTag): void {
    if (tag.kind !== 'video' || tag.trackId) this.#take(tag);
    else for (const each of this.#inBandConfig.take(tag)) this.#take(each);
  }

  #take(received: FlvTag): void {
    if (this.#isEnded) return;
    const tag = received.kind === 'video' ? this.#withTrueFrameType(received) : received;
    if (tag.kind === 'script') {
      this.#readMetadata(tag.body);
      return;
    }
    const described = tag.kind === 'video' ? describeVideoTag(tag.body) : describeAudioTag(tag.body);
    if (described === undefined || described.role === 'other') {
      if (tag.kind === 'video' && !tag.trackId)
        this.#declaredColor = readColorInfo(tag.body) ?? this.#declaredColor;
      return;
    }
    if (tag.trackId !== undefined && tag.trackId !== 0) {
      this.#takeAdditional(tag, tag.trackId, described);
      return;
    }
    // AAC without a configuration cannot be decoded, and video should not wait for it.
    const isBareAac = described.codec.name === 'AAC';
    if (isBareAac && described.role === 'frame' && this.#decoderConfigs.audio === undefined) return;
    if (!this.#acceptsCodec(tag.kind, described)) return;
    const tooLarge = tag.kind === 'video' ? this.#resolutionGuard.find(described, tag.body) : undefined;
    if (tooLarge !== undefined) {
      this.#refuse('picture-too-large', resolutionTooLargeText(tooLarge, this.#options.maxPixels));
      return;
    }
    if (described.role === 'config') {
      this.#configure(tag.kind, described.codec.name, tag.body);
      const atMs = this.#lastPlacedMs ?? this.#options.timeline.endMs;
      const { kind, body } = tag;
      this.#options.events.tagTimed({ kind, role: 'config', atMs, body, isSlate: this.#options.isSlate });
      return;
    }
    const placement = this.#options.timeline.place(tag.kind, tag.timestampMs);
    if (this.#refusesBitrate(placement.atMs, tag.body.length)) return;
    if (placement.isClockJump) this.#options.events.clockJumped();
    const isKeyframe = described.role === 'keyframe';
    this.#options.events.arrived(tag.kind, placement.atMs, tag.timestampMs, tag.body.length, isKeyframe);
    if (tag.kind === 'video') this.#hasKeyframe ||= isKeyframe;
    if (isKeyframe) this.#expectKeyframe();
    else if (this.#isKeyframeOverdue || this.#onlyRefreshes(tag.kind, placement.atMs)) {
      this.#refuseWithoutKeyframe();
      return;
    }
    if (tag.kind === 'audio') this.#lastAudioMs = placement.atMs;
    else this.#detectLostAudio(placement.atMs);
    const timed: TimedTag = {
      kind: tag.kind,
      role: described.role,
      atMs: placement.atMs,
      body: tag.body,
      isSlate: this.#options.isSlate,
      codecName: described.codec.name,
    };
    this.#lastPlacedMs = placement.atMs;
    this.#options.events.tagTimed(timed);
    this.#holdOrWrite(timed);
  }

  #takeAdditional(tag: FlvTag, trackId: number, described: TagDescription): void {
    const nowMs = this.#lastPlacedMs ?? this.#options.timeline.endMs;
    if (!this.#refusesBitrate(nowMs, tag.body.length)) this.#additional.take(tag, trackId, described);
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
    this.#takeHeldTags();
    this.#additional.end();
    this.#options.events.flow(true);
  }

  #end(): void {
    this.#isEnded = true;
    this.#takeHeldTags();
    this.#additional.end();
    clearTimeout(this.#startTimer);
    clearTimeout(this.#keyframeTimer);
  }

  #takeHeldTags(): TimedTag[] {
    const held = this.#heldTags;
    this.#heldTags = [];
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
  #withTrueFrameType(tag: FlvTag): FlvTag {
    const described = describeVideoTag(tag.body);
    if (described?.codec.name !== 'H.264' || tag.trackId) return tag;
    const payload = tag.body.subarray(videoHeaderBytes(tag.body));
    if (described.role === 'config') this.#nalLengthBytes = readVideoConfig('avc1', payload).lengthBytes;
    if (described.role !== 'keyframe' || this.#nalLengthBytes === undefined) return tag;
    if (classifyAccessUnit('avc1', payload, this.#nalLengthBytes) !== 'recovery') return tag;
    this.#hasRecoveryPoint = true;
    this.#options.events.recoveryPointArrived();
    const body = Buffer.from(tag.body);
    body[0] = (body[0]! & 0x8f) | (FRAME_TYPE_INTER << 4);
    return { ...tag, body };
  }

  /** Nobody can ever watch video that begins without a keyframe and is refreshed gradually. */
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
        ? `${problem}: the encoder refreshes the picture gradually, and players cannot start. Turn off intra refresh, and set the keyframe interval to 2 s in the encoder.`
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

  #readMetadata(body: Buffer): void {
    const declared = readDeclaredMedia(body);
    if (declared === undefined) return;
    this.#declaredFramesPerSecond = declared.framesPerSecond;
    this.#announcedTracks = { audio: declared.hasAudio, video: declared.hasVideo };
    this.#options.events.declared(declared);
  }

  #acceptsCodec(kind: TrackKind, described: TagDescription): boolean {
    const { codec } = described;
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
    // While a packager runs, a configuration alone starts no track: some encoders repeat that of a track they no longer send.
    if (this.#plan !== undefined && described.role === 'config') return true;
    this.#tracks[kind] = verdict.take;
    this.#codecNames[kind] = codec.name;
    this.#options.events.trackArrived(kind, 0, codec.name);
    if (kind === 'video') this.#expectKeyframe();
    if (this.#plan !== undefined) this.#isRestartDue = true;
    return true;
  }

  #configure(kind: TrackKind, codecName: string, body: Buffer): void {
    const former = this.#decoderConfigs[kind];
    if (former?.body.equals(body)) return;
    this.#decoderConfigs[kind] = { codecName, body };
    if (former !== undefined && this.#plan !== undefined) this.#isRestartDue = true;
  }

  #detectLostAudio(videoMs: number): void {
    if (this.#plan === undefined || this.#plan.audio === 'none' || this.#lastAudioMs === undefined) return;
    if (videoMs - this.#lastAudioMs < audioTimeoutMs) return;
    this.#tracks.audio = undefined;
    this.#lastAudioMs = undefined;
    this.#isRestartDue = true;
  }

  #holdOrWrite(tag: TimedTag): void {
    const startsCleanly =
      tag.role === 'keyframe' || (this.#tracks.video === undefined && tag.kind === 'audio');
    if (this.#packager !== undefined) {
      if (!this.#isRestartDue || !startsCleanly) {
        this.#write(tag);
        return;
      }
      this.#isRestartDue = false;
      void this.#packager.finish();
      this.#packagerGone();
      this.#heldTags.push(tag);
      this.#start();
      return;
    }
    if (
      tag.kind === 'video' &&
      tag.role !== 'keyframe' &&
      !this.#heldTags.some(held => held.role === 'keyframe')
    ) {
      // Before the first packager, the publisher started between keyframes.
      if (this.#hasPackaged) this.#options.events.dropped(1);
      return;
    }
    this.#heldTags.push(tag);
    this.#heldBytes += tag.body.length;
    while (this.#heldTags.length > maxHeldTags || this.#heldBytes > maxHeldBytes) {
      const oldest = this.#heldTags.shift();
      this.#heldBytes -= oldest?.body.length ?? 0;
      if (oldest?.kind === 'video') this.#options.events.dropped(1);
    }
    this.#startWhenReady();
  }

  #startWhenReady(): void {
    const { video, audio } = this.#tracks;
    const hasKeyframe = this.#heldTags.some(held => held.role === 'keyframe');
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
      const isStillWaiting = this.#packager === undefined && this.#heldTags.length > 0;
      const lacksKeyframe =
        this.#tracks.video !== undefined && !this.#heldTags.some(held => held.role === 'keyframe');
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
    const held = this.#takeHeldTags().sort((a, b) => a.atMs - b.atMs || (a.kind === 'video' ? -1 : 1));
    const firstKeyframe = held.findIndex(tag => tag.role === 'keyframe');
    const startMs = held[Math.max(0, firstKeyframe)]?.atMs ?? 0;
    // Audio may so far consist of its configuration only.
    if (plan.audio !== 'none') this.#lastAudioMs ??= startMs;
    this.#additional.begin(inner.additional);
    for (const kind of ['video', 'audio'] as const) {
      const config = this.#decoderConfigs[kind];
      if (config === undefined || this.#tracks[kind] === undefined) continue;
      if (config.codecName === this.#codecNames[kind]) packager.write(kind, startMs, config.body, true);
    }
    for (const tag of held) {
      // Audio before the first video frame is left out.
      if (tag.atMs >= startMs || !plan.hasVideo) this.#write(tag);
    }
    this.#additional.release(startMs);
  }

  #write(tag: TimedTag): void {
    const { kind } = tag;
    if (this.#plan === undefined || (kind === 'audio' ? this.#plan.audio === 'none' : !this.#plan.hasVideo))
      return;
    const planCodecName = kind === 'video' ? this.#planCodecNames.video : this.#planCodecNames.audio;
    if (tag.codecName !== planCodecName) {
      if (kind === 'video') this.#options.events.dropped(1);
      return;
    }
    const isOpen = this.#packager?.write(kind, tag.atMs, tag.body, false) ?? true;
    if (!isOpen) this.#options.events.flow(false);
  }
}
