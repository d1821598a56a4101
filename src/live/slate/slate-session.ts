import type { SlateFormat } from '../../ffmpeg/arguments/slate-arguments.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { FlvTag, TrackKind } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { SlidingWindowLimit } from '../../shared/sliding-window-limit.ts';
import {
  audioRendition,
  type BroadcastSubscriber,
  type RenditionPart,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import { evenSize } from '../transcode/ladder-config.ts';
import { SlatePlayer } from './slate-player.ts';
import type { SlateMedia, SlateSource } from './slate-source.ts';

/** Where the media of a stand-in goes: a publisher's run. */
export interface SlateOutput {
  tag(tag: FlvTag): void;
  finish(): Promise<void>;
  kill(): Promise<void>;
}

/** What a stand-in is made with. */
export interface SlateSessionOptions {
  readonly slate: SlateSource;
  /** Of the publisher's picture; undefined when it is not known. */
  readonly framesPerSecond: () => number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Its media begins. `dueMs` gives the monotonic time at which a tag was due. */
  begin(dueMs: (timestampMs: number) => number): SlateOutput;
  /** It is over by itself: what was shown broke. */
  failed(): void;
  /** The publisher is still gone, and may still come back. */
  isWanted(): boolean;
}

/** Publishers that are lost one after the other get this many slates; then the gaps stay. */
const mostSlates = 6;
const slatesWithinMs = 60_000;
const keyframeEveryMs = 1000;
const usualFramesPerSecond = 25;
const mostFramesPerSecond = 31;

/** Shows a slate while the publisher of a broadcast is gone. As a follower it learns what the slate has to be like. */
export class SlateSession implements BroadcastSubscriber {
  readonly name = 'stand-in';
  readonly #options: SlateSessionOptions;
  readonly #limit: SlidingWindowLimit;
  #tracks: Partial<Record<TrackKind, TrackDescription>> = {};
  /** Beside other renditions the source is the picture alone. */
  #soundAlone: TrackDescription | undefined;
  #init: Buffer | undefined;
  /** The init section and the newest part with a keyframe; the window holds them too. */
  #picture: readonly Buffer[] | undefined;
  #making: AbortController | undefined;
  readonly #over = new AbortController();
  #player: SlatePlayer | undefined;
  #run: SlateOutput | undefined;
  /** One that fails is made once more. */
  #mayRepeat = false;

  constructor(options: SlateSessionOptions) {
    this.#options = options;
    this.#limit = new SlidingWindowLimit(options.clock, mostSlates, slatesWithinMs);
  }

  /** Its media is shown. */
  get isShowing(): boolean {
    return this.#run !== undefined;
  }

  tracks(
    rendition: string,
    tracks: Partial<Record<TrackKind, TrackDescription>>,
    init: Buffer,
    isStandIn: boolean,
  ): void {
    if (isStandIn) return;
    if (rendition === audioRendition) this.#soundAlone = tracks.audio;
    if (rendition !== sourceRendition) return;
    this.#tracks = tracks;
    this.#init = init;
    this.#picture = undefined;
    // A picture that is the same for all can be ready before it is needed.
    if (!this.#options.slate.showsLastFrame) void this.#make(this.#over.signal).catch(() => {});
  }

  part({ rendition, isSlate, isIndependent, body }: RenditionPart): void {
    if (isSlate || !isIndependent || rendition !== sourceRendition || this.#init === undefined) return;
    if (this.#options.slate.showsLastFrame) this.#picture = [this.#init, body];
  }

  ended(): void {
    this.#picture = undefined;
    this.#over.abort();
  }

  /**
   * The publisher is gone and may come back.
   *
   * @param sinceMs monotonic time of its last media
   */
  begin(sinceMs: number): void {
    this.#mayRepeat = true;
    this.#begin(sinceMs);
  }

  #begin(sinceMs: number): void {
    if (this.isShowing || this.#making !== undefined || this.#tracks.video === undefined) return;
    if (!this.#limit.take()) {
      this.#options.log.info('slate-left-out', { reason: 'the publisher is lost again and again' });
      return;
    }
    const making = new AbortController();
    this.#making = making;
    void this.#make(making.signal)
      .then(media => {
        if (making.signal.aborted) return;
        this.#making = undefined;
        this.#play(media, sinceMs);
      })
      .catch((error: unknown) => {
        if (making.signal.aborted) return;
        this.#making = undefined;
        this.#options.log.warn('slate-failed', { reason: messageOf(error) });
        this.#repeat();
      });
  }

  #repeat(): void {
    if (!this.#mayRepeat || !this.#options.isWanted()) return;
    this.#mayRepeat = false;
    this.#begin(this.#options.clock.monotonicMs());
  }

  /** The publisher is back and has nothing to show yet: what is shown goes on, what is not shown yet is given up. */
  cancelPending(): void {
    this.#making?.abort();
    this.#making = undefined;
  }

  /** The publisher's media begins, or all is over: what is inside comes out. */
  async finish(): Promise<void> {
    await this.#stop()?.finish();
  }

  /** Nothing of it is wanted any more. */
  async kill(): Promise<void> {
    await this.#stop()?.kill();
  }

  /** What it gives cannot be packaged. */
  packagingFailed(reason: string): void {
    const run = this.#stop();
    if (run === undefined) return;
    this.#options.log.warn('slate-failed', { reason });
    void run.kill();
    this.#options.failed();
    this.#repeat();
  }

  #play(media: SlateMedia, sinceMs: number): void {
    const { clock, log } = this.#options;
    const player = new SlatePlayer(media, sinceMs, clock, tag => {
      // A run that gave up while it was told of several ends the rest too.
      if (this.#run === run) run.tag(tag);
    });
    const run = this.#options.begin(timestampMs => player.dueMs(timestampMs));
    this.#run = run;
    this.#player = player;
    log.info('slate-shown', { afterMs: Math.round(clock.monotonicMs() - sinceMs) });
    player.tick();
  }

  #stop(): SlateOutput | undefined {
    this.cancelPending();
    this.#player?.stop();
    this.#player = undefined;
    const run = this.#run;
    this.#run = undefined;
    return run;
  }

  async #make(signal: AbortSignal): Promise<SlateMedia> {
    const { slate } = this.#options;
    if (slate.showsLastFrame && this.#picture === undefined) {
      throw new AppError('media-malformed', 'there is no keyframe to show');
    }
    return slate.make(this.#shape(), this.#picture, signal);
  }

  #shape(): SlateFormat {
    const { video, audio = this.#soundAlone } = this.#tracks;
    let framesPerSecond = this.#options.framesPerSecond() ?? usualFramesPerSecond;
    // A still picture needs no more, and parts hold a whole number of frames all the same.
    while (framesPerSecond > mostFramesPerSecond) framesPerSecond /= 2;
    return {
      ...evenSize({ width: video?.width ?? 1280, height: video?.height ?? 720 }),
      framesPerSecond: Math.round(framesPerSecond * 1000) / 1000,
      frames: Math.max(2, Math.round((framesPerSecond * keyframeEveryMs) / 1000)),
      codec: video?.codec,
      audio:
        audio === undefined
          ? undefined
          : { sampleRate: audio.sampleRate ?? 48_000, channels: Math.min(2, audio.channels ?? 2) },
    };
  }
}
