import { type FragmentLayout, readFragmentLayout } from '../../media/cmaf/fragment-layout.ts';
import { splitFragment } from '../../media/cmaf/fragment-split.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import type { EndReason } from '../broadcast/broadcast-state.ts';
import {
  audioRendition,
  type BroadcastInfo,
  type BroadcastSubscriber,
  type BroadcastTag,
  type RenditionPart,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';

/** A part on its way to the disk. */
export interface RecordedPart {
  /** All tracks of the recording from here on: video has the id 1, audio 2. */
  readonly tracks: readonly TrackDescription[];
  readonly fragment: Buffer;
  readonly layout: FragmentLayout;
}

/** A recording that is being made. */
export interface OpenRecording {
  /** Takes a part and returns at once. */
  add(part: RecordedPart): void;
  /** Nothing more comes: it becomes a video. Safe twice. */
  close(): void;
}

/** Where recordings are made. */
export interface RecordingFactory {
  /**
   * Begins a recording; undefined while there is no room for one, or the disk has just failed.
   *
   * @param onStopped it takes no more parts, by itself; called later, and at most once
   */
  open(broadcast: BroadcastInfo, onStopped: () => void): OpenRecording | undefined;
}

/** How a broadcast is recorded. */
export interface RecorderOptions {
  readonly broadcast: BroadcastInfo;
  readonly factory: RecordingFactory;
  /** A recording of this length is closed. */
  readonly maxDurationMs: number;
  /** Nothing is recorded after that (the sandbox); else the next recording begins. */
  readonly stopsAtMax: boolean;
}

/** So much of the picture is kept back where the sound is a rendition of its own and has not begun, so that both go into one file. */
const mostHeldSeconds = 3;
/** A recording whose picture has ended waits so long for the rest of its sound. */
const mostSoundWaitSeconds = 3;
/** What begins earlier by less than this begins with the picture. */
const sameInstantSeconds = 0.002;
/** A recording that is due to be closed waits so long for a keyframe, so that no frame is lost. */
const mostKeyframeWaitMs = 60_000;
/** Durations of parts are sums of rounded ones. */
const roundingMs = 1;

/**
 * Decides what of a broadcast goes into which recording: parts as they are listed, of the picture as it came in and of the sound; none
 * that stand in for a publisher that is gone.
 */
export class Recorder implements BroadcastSubscriber {
  readonly name = 'recorder';
  readonly #options: RecorderOptions;
  readonly #tracks = new Map<string, Partial<Record<TrackKind, TrackDescription>>>();
  /** The same for all parts between two changes, so that a change is seen without comparing. */
  #recorded: readonly TrackDescription[] | undefined;
  #recording: OpenRecording | undefined;
  /** When the first frame of its picture is shown, on the broadcast's clock. */
  #beganAtSeconds = Number.NEGATIVE_INFINITY;
  /** The recording before, whose picture has ended, until its sound has; and how much of the next picture came meanwhile. */
  #ending: { readonly recording: OpenRecording; waitedSeconds: number } | undefined;
  #recordedMs = 0;
  #isOver = false;
  #hasSound = false;
  #hasGivenSoundUp = false;
  #held: RenditionPart[] = [];

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  tag({ kind, isSlate }: BroadcastTag): void {
    if (kind === 'audio' && !isSlate) this.#hasSound = true;
  }

  tracks(
    rendition: string,
    tracks: Partial<Record<TrackKind, TrackDescription>>,
    _init: Buffer,
    isStandIn: boolean,
  ): void {
    if (isStandIn) return;
    // What is held is of the tracks before.
    if (rendition === sourceRendition) {
      this.#takeHeld();
      this.#closeEnding();
      this.#hasGivenSoundUp = false;
    }
    this.#tracks.set(rendition, tracks);
    if (rendition === sourceRendition && tracks.audio === undefined) this.#tracks.delete(audioRendition);
    this.#recorded = undefined;
    if (rendition === audioRendition) this.#takeHeld();
  }

  part(part: RenditionPart): void {
    if (this.#isOver || part.isSlate || !this.#isRecorded(part.rendition)) return;
    if (!this.#isWaitingForSound()) {
      this.#take(part);
      return;
    }
    this.#held.push(part);
    const heldSeconds = this.#held.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
    if (heldSeconds < mostHeldSeconds) return;
    this.#hasGivenSoundUp = true;
    this.#takeHeld();
  }

  ended(_reason: EndReason): void {
    this.#takeHeld();
    this.#isOver = true;
    this.#close();
  }

  #takeHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const part of held) this.#take(part);
  }

  #take(part: RenditionPart): void {
    this.#recorded ??= this.#recordedTracks();
    const tracks = this.#recorded;
    const layout = readFragmentLayout(
      part.body,
      tracks.map(({ id }) => id),
    );
    const partMs = part.durationSeconds * 1000;
    const isLeading = part.rendition === sourceRendition;
    if (!isLeading) {
      this.#takeSound({ tracks, fragment: part.body, layout });
      return;
    }
    const canBegin = beginsWithKeyframe(tracks, layout);
    this.#closeWhenDue(partMs, canBegin);
    if (this.#recording === undefined && canBegin && !this.#isOver) this.#begin(tracks, layout);
    if (this.#ending !== undefined) {
      this.#ending.waitedSeconds += part.durationSeconds;
      if (this.#ending.waitedSeconds > mostSoundWaitSeconds) this.#closeEnding();
    }
    this.#recording?.add({ tracks, fragment: part.body, layout });
    if (this.#recording !== undefined) this.#recordedMs += partMs;
  }

  /**
   * Parts of a sound that is a rendition of its own end where its frames do, and come after those of the picture: what is heard before the
   * first frame of a recording belongs to the one before it.
   */
  #takeSound(part: RecordedPart): void {
    const { tracks, fragment, layout } = part;
    const { samples } = layout;
    const timescale = tracks.find(({ id }) => id === samples[0]?.trackId)?.timescale ?? 1;
    const isEarlier = ({ dtsTicks }: { dtsTicks: number }) =>
      dtsTicks / timescale < this.#beganAtSeconds - sameInstantSeconds;
    const count = samples.filter(isEarlier).length;
    if (count === samples.length) {
      this.#ending?.recording.add(part);
      return;
    }
    if (count === 0) {
      this.#closeEnding();
      this.#recording?.add(part);
      return;
    }
    const ids = tracks.map(({ id }) => id);
    const [before, after] = splitFragment(fragment, layout, count);
    this.#ending?.recording.add({ tracks, fragment: before, layout: readFragmentLayout(before, ids) });
    this.#closeEnding();
    this.#recording?.add({ tracks, fragment: after, layout: readFragmentLayout(after, ids) });
  }

  /** Its tracks are told with its first part, which comes after that of the picture. */
  #isWaitingForSound(): boolean {
    const source = this.#tracks.get(sourceRendition);
    const isPictureAlone = source?.video !== undefined && source.audio === undefined;
    return this.#hasSound && isPictureAlone && !this.#hasGivenSoundUp && !this.#tracks.has(audioRendition);
  }

  #isRecorded(rendition: string): boolean {
    const source = this.#tracks.get(sourceRendition);
    if (source === undefined) return false;
    return rendition === sourceRendition || (rendition === audioRendition && source.audio === undefined);
  }

  #hasSoundApart(): boolean {
    return this.#tracks.get(sourceRendition)?.audio === undefined && this.#tracks.has(audioRendition);
  }

  #recordedTracks(): TrackDescription[] {
    const source = this.#tracks.get(sourceRendition);
    const video = source?.video;
    const audio = source?.audio ?? this.#tracks.get(audioRendition)?.audio;
    return [
      ...(video === undefined ? [] : [{ ...video, id: 1 }]),
      ...(audio === undefined ? [] : [{ ...audio, id: 2 }]),
    ];
  }

  #closeWhenDue(nextMs: number, canBegin: boolean): void {
    const { maxDurationMs, stopsAtMax } = this.#options;
    if (stopsAtMax) {
      if (this.#recordedMs + nextMs <= maxDurationMs + roundingMs) return;
      this.#isOver = true;
      this.#close();
      return;
    }
    if (this.#recording === undefined) return;
    const isDue = this.#recordedMs >= maxDurationMs - roundingMs;
    if (isDue && canBegin && this.#hasSoundApart()) {
      this.#closeEnding();
      this.#ending = { recording: this.#recording, waitedSeconds: 0 };
      this.#recording = undefined;
    } else if (isDue && (canBegin || this.#recordedMs >= maxDurationMs + mostKeyframeWaitMs)) this.#close();
  }

  #begin(tracks: readonly TrackDescription[], layout: FragmentLayout): void {
    const { factory, broadcast, stopsAtMax } = this.#options;
    const recording = factory.open(broadcast, () => {
      if (this.#recording === recording) this.#recording = undefined;
    });
    this.#recording = recording;
    this.#beganAtSeconds = shownAtSeconds(tracks, layout);
    // What the sandbox may record counts for the whole broadcast.
    if (!stopsAtMax) this.#recordedMs = 0;
  }

  #close(): void {
    this.#closeEnding();
    const recording = this.#recording;
    this.#recording = undefined;
    recording?.close();
  }

  #closeEnding(): void {
    const ending = this.#ending;
    this.#ending = undefined;
    ending?.recording.close();
  }
}

/** Whether a recording can begin with this part. */
function beginsWithKeyframe(tracks: readonly TrackDescription[], { samples }: FragmentLayout): boolean {
  const video = tracks.find(({ kind }) => kind === 'video');
  if (video === undefined) return true;
  return samples.find(({ trackId }) => trackId === video.id)?.isSync === true;
}

/** When the first frame of its picture is shown, or its first sound heard. */
function shownAtSeconds(tracks: readonly TrackDescription[], { samples }: FragmentLayout): number {
  const track = tracks.find(({ kind }) => kind === 'video') ?? tracks[0];
  const first = samples.find(({ trackId }) => trackId === track?.id);
  if (track === undefined || first === undefined) return Number.NEGATIVE_INFINITY;
  return (first.dtsTicks + first.compositionOffsetTicks) / track.timescale;
}
