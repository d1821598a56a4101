import type { SlateFormat } from '../../ffmpeg/arguments/slate-arguments.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { MediaEvent, TrackKind } from '../../media/samples/media-sample.ts';
import type { Clock } from '../../shared/clock.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';
import type { Logger } from '../../shared/logger.ts';
import {
  audioRendition,
  type BroadcastSubscriber,
  type RenditionPart,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import { evenSize } from '../transcode/ladder-config.ts';
import { SlatePlayer } from './slate-player.ts';
import type { SlateMedia, SlateSource } from './slate-source.ts';

interface SlateOutput {
  media(event: MediaEvent): void;
  finish(): Promise<void>;
  kill(): Promise<void>;
}

interface SlateSessionOptions {
  readonly slate: SlateSource;
  readonly framesPerSecond: () => number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** `dueMs` returns the monotonic time at which a sample was due. */
  begin(dueMs: (timestampMs: number) => number): SlateOutput;
  failed(): void;
  isWanted(): boolean;
}

/** Maximum slates for reconnects in quick succession; later gaps stay. */
const maxSlates = 6;
const slateWindowMs = 60_000;
const noop = () => {};
const keyframeIntervalMs = 1000;
const defaultFramesPerSecond = 25;
const maxFramesPerSecond = 31;

/** Shows a slate while the publisher is gone, in the format that it learns as a subscriber. */
export class SlateSession implements BroadcastSubscriber {
  readonly name = 'slate';
  readonly #options: SlateSessionOptions;
  readonly #slates: FixedWindows;
  #tracks: Partial<Record<TrackKind, TrackDescription>> = {};
  /** Beside a ladder, audio is a rendition of its own. */
  #demuxedAudio: TrackDescription | undefined;
  #init: Buffer | undefined;
  /** Init section and newest part with a keyframe, shared with the window. */
  #lastFrame: readonly Buffer[] | undefined;
  #releaseLastFrame: () => void = noop;
  #making: AbortController | undefined;
  readonly #over = new AbortController();
  #player: SlatePlayer | undefined;
  #output: SlateOutput | undefined;
  /** A failed slate is retried once. */
  #canRetry = false;

  constructor(options: SlateSessionOptions) {
    this.#options = options;
    this.#slates = new FixedWindows({ windowMs: slateWindowMs, maxKeys: 1, clock: options.clock });
  }

  get isShowing(): boolean {
    return this.#output !== undefined;
  }

  tracks(
    rendition: string,
    tracks: Partial<Record<TrackKind, TrackDescription>>,
    init: Buffer,
    isSlate: boolean,
  ): void {
    if (isSlate) return;
    if (rendition === audioRendition) this.#demuxedAudio = tracks.audio;
    if (rendition !== sourceRendition) return;
    this.#tracks = tracks;
    this.#init = init;
    this.#lastFrame = undefined;
    // The slate of a common image is made before it is needed.
    if (!this.#options.slate.showsLastFrame) void this.#make(this.#over.signal).catch(() => {});
  }

  part(part: RenditionPart): void {
    const { rendition, isSlate, isIndependent, body } = part;
    if (isSlate || !isIndependent || rendition !== sourceRendition || this.#init === undefined) return;
    if (!this.#options.slate.showsLastFrame) return;
    this.#releaseLastFrame();
    this.#releaseLastFrame = part.hold();
    this.#lastFrame = [this.#init, body];
  }

  ended(): void {
    this.#lastFrame = undefined;
    this.#over.abort();
  }

  /** @param sinceMs monotonic time of the last media */
  begin(sinceMs: number): void {
    this.#canRetry = true;
    this.#begin(sinceMs);
  }

  #begin(sinceMs: number): void {
    if (this.isShowing || this.#making !== undefined || this.#tracks.video === undefined) return;
    if (!this.#slates.take('slates', maxSlates)) {
      this.#options.log.info('slate-left-out', { reason: 'the publisher reconnects too often' });
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
        this.#retry();
      });
  }

  #retry(): void {
    if (!this.#canRetry || !this.#options.isWanted()) return;
    this.#canRetry = false;
    this.#begin(this.#options.clock.monotonicMs());
  }

  /** The publisher is back without media yet: a shown slate continues. */
  cancelPending(): void {
    this.#making?.abort();
    this.#making = undefined;
  }

  async finish(): Promise<void> {
    await this.#stop()?.finish();
  }

  async kill(): Promise<void> {
    await this.#stop()?.kill();
  }

  packagingFailed(reason: string): void {
    const output = this.#stop();
    if (output === undefined) return;
    this.#options.log.warn('slate-failed', { reason });
    void output.kill();
    this.#options.failed();
    this.#retry();
  }

  #play(media: SlateMedia, sinceMs: number): void {
    const { clock, log } = this.#options;
    const player = new SlatePlayer(media, sinceMs, clock, event => {
      // The output can end while a tick emits several samples.
      if (this.#output === output) output.media(event);
    });
    const output = this.#options.begin(timestampMs => player.dueMs(timestampMs));
    this.#output = output;
    this.#player = player;
    log.info('slate-shown', { afterMs: Math.round(clock.monotonicMs() - sinceMs) });
    player.tick();
  }

  #stop(): SlateOutput | undefined {
    this.cancelPending();
    this.#player?.stop();
    this.#player = undefined;
    const output = this.#output;
    this.#output = undefined;
    return output;
  }

  async #make(signal: AbortSignal): Promise<SlateMedia> {
    const { slate } = this.#options;
    if (slate.showsLastFrame && this.#lastFrame === undefined) {
      throw new AppError('media-malformed', 'no keyframe to show');
    }
    // Keeps the frame, which is in use until long after the next part.
    this.#releaseLastFrame = noop;
    return slate.make(this.#format(), this.#lastFrame, signal);
  }

  #format(): SlateFormat {
    const { video, audio = this.#demuxedAudio } = this.#tracks;
    let framesPerSecond = this.#options.framesPerSecond() ?? defaultFramesPerSecond;
    // Enough for a still image; halving keeps a whole number of frames per part.
    while (framesPerSecond > maxFramesPerSecond) framesPerSecond /= 2;
    return {
      ...evenSize({ width: video?.width ?? 1280, height: video?.height ?? 720 }),
      framesPerSecond: Math.round(framesPerSecond * 1000) / 1000,
      frames: Math.max(2, Math.round((framesPerSecond * keyframeIntervalMs) / 1000)),
      codec: video?.codec,
      audio:
        audio === undefined
          ? undefined
          : { sampleRate: audio.sampleRate ?? 48_000, channels: Math.min(2, audio.channels ?? 2) },
    };
  }
}
