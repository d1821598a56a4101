import { messageOf } from '../shared/errors.ts';
import type { EndReason } from './broadcast.ts';
import { type CodecAbilities, judgeAudioCodec, judgeVideoCodec } from './codec-policy.ts';
import { type DeclaredMedia, readDeclaredMedia } from './flv-metadata.ts';
import { describeAudioTag, describeVideoTag, type TagDescription } from './flv-tag.ts';
import type { Packager, PackagerEvents, PackagerPlan } from './packager.ts';
import { PictureGuard, pictureTooLargeText } from './picture-guard.ts';
import type { LiveTag } from './ports.ts';
import type { Timeline, TrackKind } from './timeline.ts';

/** Why a publisher cannot be packaged. */
export type RunRefusal = Extract<
  EndReason,
  'unsupported-codec' | 'no-keyframe' | 'no-media' | 'limit-exceeded' | 'picture-too-large'
>;

/** What a run tells its broadcast. */
export interface PublisherRunEvents {
  /** A packager begins, and the one before gets no more; who hears what it gives. */
  packagerStarts(): Omit<PackagerEvents, 'drained'>;
  /** Whether one more packager may be started now: each costs a process. */
  mayStartPackager(): boolean;
  /** What the encoder says of itself. */
  declared(media: DeclaredMedia): void;
  /** A frame arrived that is to be packaged: its place on the broadcast's clock, and its time as it was sent. */
  arrived(kind: TrackKind, atMs: number, timestampMs: number, bytes: number, isKeyframe: boolean): void;
  /** Media that is to be packaged, or decoder configuration, on the broadcast's clock. */
  placed(tag: PlacedTag): void;
  /** Frames of picture that arrived are not packaged after all. */
  dropped(count: number): void;
  /** The publisher's clock was set anew: media goes on without a known distance. */
  clockJumped(): void;
  /** This publisher cannot be packaged. */
  refused(reason: RunRefusal, description: string): void;
  /** The packager takes more, or not for now. */
  flow(isOpen: boolean): void;
}

/** What a run is made with. */
export interface PublisherRunOptions {
  readonly timeline: Timeline;
  readonly abilities: CodecAbilities;
  readonly startPackager: (plan: PackagerPlan, events: PackagerEvents) => Packager;
  readonly events: PublisherRunEvents;
  readonly keyframeTimeoutMs: number;
  readonly maxPixels: number;
}

/** A tag on the broadcast's clock. */
export interface PlacedTag {
  readonly kind: TrackKind;
  readonly atMs: number;
  readonly body: Buffer;
  readonly role: TagDescription['role'];
  readonly codecName: string;
}

/** How long the other track is waited for once one has come. Encoders send both headers at once. */
const otherTrackMs = 400;
/** A track that was announced and has not come is waited for this long. */
const announcedTrackMs = 1000;
/** Audio that is silent (no tags at all) for this long is given up, so that players need not wait for it. */
const audioGoneMs = 5000;
const mostHeldTags = 2000;
const mostHeldBytes = 16 * 1024 * 1024;
/** What arrives for this much media time may have so many bytes: 128 Mbit/s. Memory is counted in seconds of media further on. */
const weighedMs = 2000;
const mostWeighedBytes = 32 * 1024 * 1024;

/**
 * One publisher connection of a broadcast: finds out which tracks it has, starts a packager at a keyframe, feeds it, and starts
 * another where tracks or decoder configuration change.
 */
export class PublisherRun {
  readonly #options: PublisherRunOptions;
  readonly #pictures: PictureGuard;
  #config: Partial<Record<TrackKind, { readonly codecName: string; readonly body: Buffer }>> = {};
  #seen: Partial<Record<TrackKind, 'copy' | 'aac'>> = {};
  #codecNames: Partial<Record<TrackKind, string>> = {};
  #announced: Record<TrackKind, boolean | undefined> = { audio: undefined, video: undefined };
  #packager: Packager | undefined;
  #plan: PackagerPlan | undefined;
  /** What the running packager was begun with. */
  #planCodecNames: Partial<Record<TrackKind, string>> = {};
  /** Tags since the first one, or since the last keyframe, until a packager starts. */
  #held: PlacedTag[] = [];
  #heldBytes = 0;
  #decideTimer: NodeJS.Timeout | undefined;
  #keyframeTimer: NodeJS.Timeout | undefined;
  #lastAudioMs: number | undefined;
  #lastPlacedMs: number | undefined;
  #weighedFromMs = 0;
  #weighedBytes = 0;
  #mustRestart = false;
  #hasPackaged = false;
  #isOver = false;

  constructor(options: PublisherRunOptions) {
    this.#options = options;
    this.#pictures = new PictureGuard(options.maxPixels);
    this.#expectKeyframe();
  }

  tag(tag: LiveTag): void {
    if (this.#isOver) return;
    if (tag.kind === 'script') {
      this.#readMetadata(tag.body);
      return;
    }
    const described = tag.kind === 'video' ? describeVideoTag(tag.body) : describeAudioTag(tag.body);
    if (described === undefined || described.role === 'other') return;
    if (!this.#accepts(tag.kind, described)) return;
    const tooLarge = tag.kind === 'video' ? this.#pictures.find(described, tag.body) : undefined;
    if (tooLarge !== undefined) {
      this.#refuse('picture-too-large', pictureTooLargeText(tooLarge, this.#options.maxPixels));
      return;
    }
    if (described.role === 'config') {
      this.#configure(tag.kind, described.codec.name, tag.body);
      // What has not begun yet goes on where the one before it is now.
      const atMs = this.#lastPlacedMs ?? this.#options.timeline.endMs;
      const { kind, body } = tag;
      this.#options.events.placed({ kind, body, atMs, role: 'config', codecName: described.codec.name });
      return;
    }
    const placement = this.#options.timeline.place(tag.kind, tag.timestampMs);
    if (this.#isTooHeavy(placement.atMs, tag.body.length)) {
      this.#refuse('limit-exceeded', 'More than 128 Mbit/s came. Choose a lower bitrate in the encoder.');
      return;
    }
    if (placement.isJump) this.#options.events.clockJumped();
    const isKeyframe = described.role === 'keyframe';
    this.#options.events.arrived(tag.kind, placement.atMs, tag.timestampMs, tag.body.length, isKeyframe);
    if (isKeyframe) this.#expectKeyframe();
    if (tag.kind === 'audio') this.#lastAudioMs = placement.atMs;
    else this.#noticeLostAudio(placement.atMs);
    const placed: PlacedTag = {
      kind: tag.kind,
      atMs: placement.atMs,
      body: tag.body,
      role: described.role,
      codecName: described.codec.name,
    };
    this.#lastPlacedMs = placement.atMs;
    this.#options.events.placed(placed);
    this.#take(placed);
  }

  /** The publisher is gone: what is inside the packager comes out. */
  async finish(): Promise<void> {
    this.#end();
    await this.#packager?.finish();
  }

  /** Nothing of it is wanted any more. */
  async kill(): Promise<void> {
    this.#end();
    await this.#packager?.kill();
  }

  /** The packager is gone: another one starts at the next keyframe. */
  #packagerLost(): void {
    this.#packager = undefined;
    this.#plan = undefined;
    this.#takeHeld();
    this.#options.events.flow(true);
  }

  #end(): void {
    this.#isOver = true;
    this.#takeHeld();
    clearTimeout(this.#decideTimer);
    clearTimeout(this.#keyframeTimer);
  }

  #takeHeld(): PlacedTag[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }

  #isTooHeavy(atMs: number, bytes: number): boolean {
    if (atMs - this.#weighedFromMs >= weighedMs) {
      this.#weighedFromMs = atMs;
      this.#weighedBytes = 0;
    }
    this.#weighedBytes += bytes;
    return this.#weighedBytes > mostWeighedBytes;
  }

  #refuse(reason: RunRefusal, description: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#options.events.refused(reason, description);
  }

  #expectKeyframe(): void {
    clearTimeout(this.#keyframeTimer);
    const { keyframeTimeoutMs } = this.#options;
    const seconds = Math.round(keyframeTimeoutMs / 1000);
    this.#keyframeTimer = setTimeout(() => {
      if (this.#seen.video !== undefined) {
        const advice = 'Set the keyframe interval to 2 s in the encoder.';
        this.#refuse('no-keyframe', `No keyframe came for ${seconds} s. ${advice}`);
      } else if (this.#seen.audio === undefined) {
        this.#refuse('no-media', `No audio or video came for ${seconds} s.`);
      }
    }, keyframeTimeoutMs);
  }

  #readMetadata(body: Buffer): void {
    const declared = readDeclaredMedia(body);
    if (declared === undefined) return;
    this.#announced = { audio: declared.hasAudio, video: declared.hasVideo };
    this.#options.events.declared(declared);
  }

  #accepts(kind: TrackKind, described: TagDescription): boolean {
    const { codec } = described;
    const isKnown = this.#codecNames[kind] === codec.name;
    if (this.#seen[kind] !== undefined && isKnown) return true;
    const { abilities } = this.#options;
    const verdict = kind === 'video' ? judgeVideoCodec(codec, abilities) : judgeAudioCodec(codec);
    if (verdict.take === 'refuse') {
      this.#refuse('unsupported-codec', verdict.description);
      return false;
    }
    // Beside a running packager a configuration alone is no track yet: some encoders repeat that of a track they no longer send.
    if (this.#plan !== undefined && described.role === 'config') return true;
    this.#seen[kind] = verdict.take;
    this.#codecNames[kind] = codec.name;
    if (kind === 'video') this.#expectKeyframe();
    // A track that comes late, or with another codec, needs another packager.
    if (this.#plan !== undefined) this.#mustRestart = true;
    return true;
  }

  #configure(kind: TrackKind, codecName: string, body: Buffer): void {
    const former = this.#config[kind];
    if (former?.body.equals(body)) return;
    this.#config[kind] = { codecName, body };
    if (former !== undefined && this.#plan !== undefined) this.#mustRestart = true;
  }

  #noticeLostAudio(videoMs: number): void {
    if (this.#plan === undefined || this.#plan.audio === 'none' || this.#lastAudioMs === undefined) return;
    if (videoMs - this.#lastAudioMs < audioGoneMs) return;
    delete this.#seen.audio;
    this.#lastAudioMs = undefined;
    this.#mustRestart = true;
  }

  #take(tag: PlacedTag): void {
    const startsCleanly = tag.role === 'keyframe' || (this.#seen.video === undefined && tag.kind === 'audio');
    if (this.#packager !== undefined) {
      if (!this.#mustRestart || !startsCleanly) {
        this.#write(tag);
        return;
      }
      this.#mustRestart = false;
      void this.#packager.finish();
      this.#packagerLost();
      this.#held.push(tag);
      this.#start();
      return;
    }
    if (
      tag.kind === 'video' &&
      tag.role !== 'keyframe' &&
      !this.#held.some(held => held.role === 'keyframe')
    ) {
      // Before the first packager this is a publisher that begins in the middle; later it is our loss.
      if (this.#hasPackaged) this.#options.events.dropped(1);
      return;
    }
    this.#held.push(tag);
    this.#heldBytes += tag.body.length;
    // Whoever sends that much without a keyframe sends nothing that can be shown.
    while (this.#held.length > mostHeldTags || this.#heldBytes > mostHeldBytes) {
      const oldest = this.#held.shift();
      this.#heldBytes -= oldest?.body.length ?? 0;
      if (oldest?.kind === 'video') this.#options.events.dropped(1);
    }
    this.#decide();
  }

  #decide(): void {
    const { video, audio } = this.#seen;
    const hasKeyframe = this.#held.some(held => held.role === 'keyframe');
    if (video !== undefined && !hasKeyframe) return;
    const missing: TrackKind | undefined =
      video === undefined ? 'video' : audio === undefined ? 'audio' : undefined;
    if (missing === undefined) {
      this.#start();
      return;
    }
    if (this.#decideTimer !== undefined) return;
    const waitMs =
      this.#announced[missing] === true || missing === 'video'
        ? announcedTrackMs
        : this.#announced[missing] === false
          ? otherTrackMs / 4
          : otherTrackMs;
    this.#decideTimer = setTimeout(() => {
      this.#decideTimer = undefined;
      const isStillWaiting = this.#packager === undefined && this.#held.length > 0;
      const lacksKeyframe =
        this.#seen.video !== undefined && !this.#held.some(held => held.role === 'keyframe');
      if (isStillWaiting && !lacksKeyframe) this.#start();
    }, waitMs);
  }

  #start(): void {
    clearTimeout(this.#decideTimer);
    this.#decideTimer = undefined;
    if (!this.#options.events.mayStartPackager()) {
      this.#refuse(
        'limit-exceeded',
        'The encoder changes its settings too often. Keep codec, size and sound as they are while live.',
      );
      return;
    }
    const plan: PackagerPlan = {
      hasVideo: this.#seen.video !== undefined,
      audio: this.#seen.audio ?? 'none',
    };
    const inner = this.#options.events.packagerStarts();
    let packager: Packager;
    try {
      packager = this.#options.startPackager(plan, {
        ...inner,
        drained: () => this.#options.events.flow(true),
        exited: exit => {
          if (this.#packager === packager) this.#packagerLost();
          inner.exited(exit);
        },
      });
    } catch (error) {
      this.#packagerLost();
      inner.exited({ kind: 'failed', report: messageOf(error) });
      return;
    }
    this.#packager = packager;
    this.#hasPackaged = true;
    this.#plan = plan;
    this.#planCodecNames = { ...this.#codecNames };
    this.#mustRestart = false;
    const held = this.#takeHeld();
    const firstKeyframe = held.findIndex(tag => tag.role === 'keyframe');
    const startMs = held[Math.max(0, firstKeyframe)]?.atMs ?? 0;
    // Audio of which there is only the configuration so far has this long to come.
    if (plan.audio !== 'none') this.#lastAudioMs ??= startMs;
    for (const kind of ['video', 'audio'] as const) {
      const config = this.#config[kind];
      if (config === undefined || this.#seen[kind] === undefined) continue;
      if (config.codecName === this.#codecNames[kind]) packager.write(kind, startMs, config.body, true);
    }
    for (const tag of held) {
      // Audio from before the first picture would be shown over nothing.
      if (tag.atMs >= startMs || !plan.hasVideo) this.#write(tag);
    }
  }

  #write(tag: PlacedTag): void {
    const { kind } = tag;
    if (this.#plan === undefined || (kind === 'audio' ? this.#plan.audio === 'none' : !this.#plan.hasVideo))
      return;
    // The packager that takes it begins at the next keyframe.
    if (tag.codecName !== this.#planCodecNames[kind]) {
      if (kind === 'video') this.#options.events.dropped(1);
      return;
    }
    const isOpen = this.#packager?.write(kind, tag.atMs, tag.body, false) ?? true;
    if (!isOpen) this.#options.events.flow(false);
  }
}
