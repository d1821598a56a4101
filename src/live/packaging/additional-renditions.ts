import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { BroadcastSubscriber } from '../broadcast/broadcast-subscriber.ts';
import type { RenditionDropReason } from '../transcode/ladder-transcoder.ts';
import { type AdditionalTrack, AdditionalTracks, type StartTrackPackager } from './additional-tracks.ts';
import type { AlignedRenditions } from './aligned-renditions.ts';
import type { AdditionalSample } from './packager.ts';

interface AdditionalRenditionsOptions {
  readonly aligned: AlignedRenditions;
  readonly startPackager: StartTrackPackager;
  readonly maxPixels: number;
  /** Tells whether a slate, or a previous track of this name, leaves the rendition out. */
  isLeftOut(rendition: string): boolean;
  notifyEncoded(call: (subscriber: BroadcastSubscriber) => void): void;
  /** @param original as the publisher sends it; undefined when only its conversion is known */
  delivered(track: AdditionalTrack, original: TrackDescription | undefined): void;
  /** @param reason a sentence */
  leftOut(kind: TrackKind, trackId: number, reason: string): void;
  /** Viewers of the rendition get another one. */
  dropped(rendition: string, reason: RenditionDropReason, fromMs: number): void;
}

interface SourceKeyframe {
  readonly atMs: number;
  readonly offsetMs: number;
}

interface VideoState {
  readonly track: AdditionalTrack;
  timescale: number;
  frameSeconds: number | undefined;
  /** Puts its keyframes on the decode times of the source's, of the GOP. */
  shiftMs: number;
  shiftTicks: number;
  lastMs: number;
  isAligned: boolean;
}

const maxEarlySamples = 4000;
/** Presentation times of the same picture differ by rounding only. */
const keyframeToleranceMs = 12;
const maxSourceKeyframes = 8;
/** Viewers of the rendition wait so long for its frames. */
const maxSilentMs = 3000;
const watermarkReason =
  'The video gets a watermark, or the track was already left out earlier in this broadcast.';
const dropReasons = {
  'not-aligned': 'Its keyframes do not align with those of the main track.',
  stopped: 'The track stopped.',
} as const;

/** Renditions that the encoder sends itself, beside the source: further audio tracks, and video in other sizes. */
export class AdditionalRenditions {
  readonly #options: AdditionalRenditionsOptions;
  readonly #tracks: AdditionalTracks;
  readonly #videos = new Map<string, VideoState>();
  #early: (() => void)[] | undefined = [];
  #isDelivered = false;
  #sourceKeyframes: SourceKeyframe[] = [];

  constructor(options: AdditionalRenditionsOptions) {
    this.#options = options;
    this.#tracks = new AdditionalTracks({
      events: {
        began: track => this.#began(track),
        described: (track, description, original) => this.#described(track, description, original),
        sample: (track, sample, atMs) => this.#whenStarted(() => this.#place(track, sample, atMs)),
        failed: options.leftOut,
      },
      startPackager: options.startPackager,
      maxPixels: options.maxPixels,
    });
  }

  get hasAny(): boolean {
    return this.#tracks.all.length > 0;
  }

  get audio(): readonly string[] {
    return this.#tracks.all.filter(({ kind }) => kind === 'audio').map(({ name }) => name);
  }

  get renditions(): readonly string[] {
    return this.#tracks.all
      .filter(({ kind, name }) => kind === 'audio' || this.#videos.has(name))
      .map(({ name }) => name);
  }

  /** Lowest first. */
  get videos(): readonly { readonly name: string; readonly frameSeconds: number | undefined }[] {
    return [...this.#videos.values()]
      .toSorted((one, other) => one.track.pixels - other.track.pixels)
      .map(({ track, frameSeconds }) => ({ name: track.name, frameSeconds }));
  }

  write(sample: AdditionalSample): void {
    this.#tracks.write(sample);
  }

  /** Starts the renditions: their windows exist from now on. @param problem all are left out */
  start(problem: string | undefined): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    this.#isDelivered = problem === undefined;
    if (problem !== undefined) for (const track of this.#tracks.all) this.#leaveOut(track, problem);
    for (const action of early) action();
  }

  finish(): Promise<void> {
    return this.#tracks.finish();
  }

  kill(): Promise<void> {
    return this.#tracks.kill();
  }

  sourceKeyframe(atMs: number, offsetMs: number): void {
    if (this.#videos.size === 0) return;
    this.#sourceKeyframes = [...this.#sourceKeyframes, { atMs, offsetMs }].slice(-maxSourceKeyframes);
  }

  sourceFrame(atMs: number): void {
    if (this.#videos.size === 0) return;
    for (const state of [...this.#videos.values()]) {
      if (state.lastMs === Number.NEGATIVE_INFINITY) state.lastMs = atMs;
      if (atMs - state.lastMs > maxSilentMs) this.#drop(state, 'stopped');
    }
  }

  /** Called for every segment of a rendition. @param isAligned it begins with a keyframe where the source's does */
  segmentBegan(rendition: string, isAligned: boolean): void {
    const state = this.#videos.get(rendition);
    if (state === undefined) return;
    // One keyframe may be lost, but not the first or two in a row.
    if (!isAligned && !state.isAligned) this.#drop(state, 'not-aligned');
    state.isAligned = isAligned;
  }

  #began(track: AdditionalTrack): void {
    const { name, kind } = track;
    const hasStarted = this.#early === undefined;
    const isLeftOut = kind === 'video' && this.#options.isLeftOut(name);
    if (isLeftOut) this.#leaveOut(track, watermarkReason);
    if (kind === 'video' && !hasStarted && !isLeftOut) {
      this.#videos.set(name, {
        track,
        timescale: 1000,
        frameSeconds: undefined,
        shiftMs: 0,
        shiftTicks: 0,
        lastMs: Number.NEGATIVE_INFINITY,
        isAligned: false,
      });
    }
    if (!hasStarted) return;
    if (kind === 'audio' && this.#options.aligned.hasAudio) this.#options.aligned.beginAudio(name);
    else this.#leaveOut(track, 'The track started after the broadcast.');
  }

  #described(
    track: AdditionalTrack,
    description: TrackDescription,
    original: TrackDescription | undefined,
  ): void {
    const { aligned, notifyEncoded, delivered } = this.#options;
    this.#whenStarted(() => {
      if (track.kind === 'audio') {
        if (aligned.setAudioTrack(track.name, description)) delivered(track, original);
        return;
      }
      const state = this.#videos.get(track.name);
      if (state === undefined) return;
      state.timescale = description.timescale;
      notifyEncoded(subscriber => subscriber.encodedTrack?.(track.name, description));
      aligned.setRenditionTrack(track.name, description);
      delivered(track, original);
    });
  }

  #whenStarted(action: () => void): void {
    if (this.#early === undefined) {
      if (this.#isDelivered) action();
    } else if (this.#early.length < maxEarlySamples) this.#early.push(action);
  }

  #place({ name, kind }: AdditionalTrack, sample: Sample, atMs: number): void {
    const { aligned, notifyEncoded } = this.#options;
    if (!this.#isDelivered) return;
    if (kind === 'audio') {
      aligned.addAudioSample(name, sample, atMs);
      return;
    }
    const state = this.#videos.get(name);
    if (state === undefined) return;
    if (sample.isSync) this.#alignKeyframe(state, sample, atMs);
    const placedMs = atMs + state.shiftMs;
    const compositionOffsetTicks = sample.compositionOffsetTicks - state.shiftTicks;
    const placed = { ...sample, compositionOffsetTicks };
    state.lastMs = Math.max(state.lastMs, placedMs);
    notifyEncoded(subscriber => subscriber.encodedSample?.(name, placed, placedMs));
    aligned.addRungSample(name, placed, placedMs);
  }

  /** Encoders delay decode times by the B-frames of each track, so that only presentation times agree. */
  #alignKeyframe(state: VideoState, sample: Sample, atMs: number): void {
    const { timescale } = state;
    state.frameSeconds = sample.durationTicks / timescale || state.frameSeconds;
    const shownMs = atMs + (sample.compositionOffsetTicks * 1000) / timescale;
    const same = this.#sourceKeyframes.find(
      keyframe => Math.abs(keyframe.atMs + keyframe.offsetMs - shownMs) <= keyframeToleranceMs,
    );
    if (same === undefined) return;
    state.shiftMs = same.atMs - atMs;
    state.shiftTicks = sample.compositionOffsetTicks - Math.round((same.offsetMs * timescale) / 1000);
  }

  #drop({ track, lastMs }: VideoState, reason: keyof typeof dropReasons): void {
    const { name } = track;
    this.#videos.delete(name);
    this.#leaveOut(track, dropReasons[reason]);
    this.#options.dropped(name, reason, lastMs + 1);
  }

  #leaveOut({ kind, trackId }: AdditionalTrack, reason: string): void {
    this.#options.leftOut(kind, trackId, reason);
  }
}
