import { readFragmentLayout } from '../../media/cmaf/fragment-layout.ts';
import { splitFragment } from '../../media/cmaf/fragment-split.ts';
import { locateSamples } from '../../media/cmaf/fragment-writer.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
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
import type { PartStored, SharedFiles } from '../window/part-store.ts';

export interface RecordedPart {
  /** From this part on: video has the id 1, audio 2. */
  readonly tracks: readonly TrackDescription[];
  readonly fragment: Buffer;
  /** Of the fragment, with positions in it. */
  readonly samples: readonly LocatedSample[];
  /** Called once. Undefined for a part that is not the window's. */
  readonly stored?: PartStored;
}

interface OpenRecording {
  add(part: RecordedPart): void;
  /** May be called repeatedly. @param hasMoved another server may continue it */
  close(hasMoved?: boolean): void;
}

export interface RecordingFactory {
  /** Undefined while disk space is low, or after a disk error. @param onStopped called later, at most once */
  open(
    broadcast: BroadcastInfo,
    onStopped: () => void,
    sharedFiles: SharedFiles | undefined,
  ): OpenRecording | undefined;
}

export interface RecorderOptions {
  readonly broadcast: BroadcastInfo;
  readonly factory: RecordingFactory;
  readonly sharedFiles?: SharedFiles | undefined;
  readonly maxDurationMs: number;
  /** Ends recording (sandbox) instead of starting another file. */
  readonly stopsAtMax: boolean;
}

interface ClaimedPart {
  readonly part: RenditionPart;
  readonly samples: readonly LocatedSample[];
  readonly stored: PartStored;
}

/** Of video and audio. */
const trackIds = [1, 2];
/** Video held until demuxed audio begins, so that both go into one file. */
const maxHeldSeconds = 3;
/** Wait for the rest of the audio. */
const maxAudioWaitSeconds = 3;
const toleranceSeconds = 0.002;
/** Wait for a keyframe, so that no frame is lost. */
const maxKeyframeWaitMs = 60_000;
/** Durations of parts are sums of rounded values. */
const roundingMs = 1;

export class Recorder implements BroadcastSubscriber {
  readonly name = 'recorder';
  readonly #options: RecorderOptions;
  readonly #tracks = new Map<string, Partial<Record<TrackKind, TrackDescription>>>();
  /** The same object until the tracks change. */
  #trackList: readonly TrackDescription[] | undefined;
  #recording: OpenRecording | undefined;
  #beganAtSeconds = Number.NEGATIVE_INFINITY;
  /** Waits for its audio; `waitedSeconds` is the video since its end. */
  #ending: { readonly recording: OpenRecording; waitedSeconds: number } | undefined;
  #recordedMs = 0;
  #hasBegun = false;
  #isOver = false;
  #hasAudio = false;
  #isAudioMissing = false;
  #held: ClaimedPart[] = [];

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  tag({ kind, isSlate }: BroadcastTag): void {
    if (kind === 'audio' && !isSlate) this.#hasAudio = true;
  }

  tracks(
    rendition: string,
    tracks: Partial<Record<TrackKind, TrackDescription>>,
    _init: Buffer,
    isSlate: boolean,
  ): void {
    if (isSlate || (rendition !== sourceRendition && rendition !== audioRendition)) return;
    // Held parts belong to the previous tracks.
    if (rendition === sourceRendition) {
      this.#addHeld();
      this.#closeEnding();
      this.#isAudioMissing = false;
    }
    this.#tracks.set(rendition, tracks);
    if (rendition === sourceRendition && tracks.audio === undefined) this.#tracks.delete(audioRendition);
    this.#trackList = undefined;
    if (rendition === audioRendition) this.#addHeld();
  }

  part(part: RenditionPart): void {
    if (this.#isOver || part.isSlate || !this.#isRecorded(part.rendition)) return;
    const claimed = { part, samples: samplesOf(part), stored: part.claim() };
    if (!this.#isWaitingForAudio()) {
      this.#add(claimed);
      return;
    }
    this.#held.push(claimed);
    const heldSeconds = this.#held.reduce((sum, held) => sum + held.part.durationSeconds, 0);
    if (heldSeconds < maxHeldSeconds) return;
    this.#isAudioMissing = true;
    this.#addHeld();
  }

  ended(reason: EndReason): void {
    this.#addHeld();
    this.#isOver = true;
    this.#close(reason === 'moved');
  }

  #addHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const claimed of held) this.#add(claimed);
  }

  #add({ part, samples, stored }: ClaimedPart): void {
    this.#trackList ??= this.#recordedTracks();
    const tracks = this.#trackList;
    const partMs = part.durationSeconds * 1000;
    const isLeading = part.rendition === sourceRendition;
    if (!isLeading) {
      this.#addAudio({ tracks, fragment: part.body, samples }, stored);
      return;
    }
    const canBegin = beginsWithKeyframe(tracks, samples);
    this.#closeWhenDue(partMs, canBegin);
    if (this.#recording === undefined && canBegin && !this.#isOver) this.#begin(tracks, samples);
    if (this.#ending !== undefined) {
      this.#ending.waitedSeconds += part.durationSeconds;
      if (this.#ending.waitedSeconds > maxAudioWaitSeconds) this.#closeEnding();
    }
    addTo(this.#recording, { tracks, fragment: part.body, samples }, stored);
    if (this.#recording !== undefined) this.#recordedMs += partMs;
  }

  /** Demuxed audio comes after its video: audio from before the first frame belongs to the previous recording. */
  #addAudio(part: RecordedPart, stored: PartStored): void {
    const { tracks, fragment, samples } = part;
    const timescale = tracks.find(({ id }) => id === samples[0]?.trackId)?.timescale ?? 1;
    const isEarlier = ({ dtsTicks }: { dtsTicks: number }) =>
      dtsTicks / timescale < this.#beganAtSeconds - toleranceSeconds;
    const count = samples.filter(isEarlier).length;
    if (count === samples.length) {
      addTo(this.#ending?.recording, part, stored);
      return;
    }
    if (count === 0) {
      this.#closeEnding();
      addTo(this.#recording, part, stored);
      return;
    }
    stored(undefined);
    const [before, after] = splitFragment(fragment, samples, count);
    this.#ending?.recording.add({ tracks, fragment: before, samples: readSamples(before) });
    this.#closeEnding();
    this.#recording?.add({ tracks, fragment: after, samples: readSamples(after) });
  }

  /** Demuxed audio announces its tracks with its first part, after that of the video. */
  #isWaitingForAudio(): boolean {
    const source = this.#tracks.get(sourceRendition);
    const isVideoOnly = source?.video !== undefined && source.audio === undefined;
    return this.#hasAudio && isVideoOnly && !this.#isAudioMissing && !this.#tracks.has(audioRendition);
  }

  #isRecorded(rendition: string): boolean {
    const source = this.#tracks.get(sourceRendition);
    if (source === undefined) return false;
    return rendition === sourceRendition || (rendition === audioRendition && source.audio === undefined);
  }

  #hasDemuxedAudio(): boolean {
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
    if (isDue && canBegin && this.#hasDemuxedAudio()) {
      this.#closeEnding();
      this.#ending = { recording: this.#recording, waitedSeconds: 0 };
      this.#recording = undefined;
    } else if (isDue && (canBegin || this.#recordedMs >= maxDurationMs + maxKeyframeWaitMs)) this.#close();
  }

  #begin(tracks: readonly TrackDescription[], samples: readonly LocatedSample[]): void {
    const { factory, broadcast, sharedFiles, stopsAtMax } = this.#options;
    const onStopped = () => {
      if (this.#recording === recording) this.#recording = undefined;
    };
    const continued = this.#hasBegun ? undefined : broadcast.recording;
    this.#hasBegun = true;
    const recording = factory.open({ ...broadcast, recording: continued }, onStopped, sharedFiles);
    this.#recording = recording;
    this.#beganAtSeconds = shownAtSeconds(tracks, samples);
    // The sandbox limit applies to the whole broadcast.
    if (!stopsAtMax) this.#recordedMs = 0;
  }

  #close(hasMoved = false): void {
    this.#closeEnding();
    const recording = this.#recording;
    this.#recording = undefined;
    recording?.close(hasMoved);
  }

  #closeEnding(): void {
    const ending = this.#ending;
    this.#ending = undefined;
    ending?.recording.close();
  }
}

function samplesOf({ body, runs }: RenditionPart): readonly LocatedSample[] {
  return runs === undefined ? readSamples(body) : locateSamples(body, runs);
}

function readSamples(fragment: Buffer): readonly LocatedSample[] {
  return readFragmentLayout(fragment, trackIds).samples;
}

function addTo(recording: OpenRecording | undefined, part: RecordedPart, stored: PartStored): void {
  if (recording === undefined) stored(undefined);
  else recording.add({ ...part, stored });
}

function beginsWithKeyframe(tracks: readonly TrackDescription[], samples: readonly LocatedSample[]): boolean {
  const video = tracks.find(({ kind }) => kind === 'video');
  if (video === undefined) return true;
  return samples.find(({ trackId }) => trackId === video.id)?.isSync === true;
}

/** Of the first video frame or, without video, of the first audio. */
function shownAtSeconds(tracks: readonly TrackDescription[], samples: readonly LocatedSample[]): number {
  const track = tracks.find(({ kind }) => kind === 'video') ?? tracks[0];
  const first = samples.find(({ trackId }) => trackId === track?.id);
  if (track === undefined || first === undefined) return Number.NEGATIVE_INFINITY;
  return (first.dtsTicks + first.compositionOffsetTicks) / track.timescale;
}
