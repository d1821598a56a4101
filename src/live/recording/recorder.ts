import { readFragmentLayout } from '../../media/cmaf/fragment-layout.ts';
import { splitFragment } from '../../media/cmaf/fragment-split.ts';
import { locateSamples } from '../../media/cmaf/fragment-writer.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { EndReason } from '../broadcast/broadcast-state.ts';
import {
  type BroadcastInfo,
  type BroadcastMedia,
  type BroadcastSubscriber,
  type RenditionPart,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import { audioTrackIdOf } from '../transcode/audio-renditions.ts';
import type { ListedTrackLabel } from '../window/listed-audio.ts';
import type { PartStored, SharedFiles } from '../window/part-store.ts';
import { RecordedTracks } from './recorded-tracks.ts';

export interface RecordedPart {
  /** Tracks from this part on, with the ids of the part: video has the id 1, the main audio 2. */
  readonly tracks: readonly TrackDescription[];
  readonly fragment: Buffer;
  /** Samples of the fragment, with positions in it. */
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

/** A recording whose last frame of video was added, while audio of before that is still to come. */
interface EndingRecording {
  readonly recording: OpenRecording;
  readonly tracks: readonly TrackDescription[];
  readonly awaitedTrackIds: Set<number>;
  /** Video since its end. */
  waitedSeconds: number;
}

/** Video held until demuxed audio begins, so that all tracks go into one file. */
const maxHeldSeconds = 3;
/** Wait for the rest of the audio. */
const maxAudioWaitSeconds = 3;
const videoTrackId = 1;
const toleranceSeconds = 0.002;
/** Wait for a keyframe, so that no frame is lost. */
const maxKeyframeWaitMs = 60_000;
/** Durations of parts are sums of rounded values. */
const roundingMs = 1;

export class Recorder implements BroadcastSubscriber {
  readonly name = 'recorder';
  readonly #options: RecorderOptions;
  readonly #tracks = new RecordedTracks();
  #recording: OpenRecording | undefined;
  #beganAtSeconds = Number.NEGATIVE_INFINITY;
  #ending: EndingRecording | undefined;
  #recordedMs = 0;
  #hasBegun = false;
  #isOver = false;
  #hasAudio = false;
  #isAudioMissing = false;
  #held: ClaimedPart[] = [];

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  media({ media: { kind }, isSlate }: BroadcastMedia): void {
    if (kind === 'audio' && !isSlate) this.#hasAudio = true;
  }

  additionalAudio(renditions: readonly string[]): void {
    this.#tracks.expect(renditions);
  }

  unrecordedAudio(): ReadonlyMap<string, string> {
    return this.#recording === undefined ? new Map() : this.#tracks.leftOut;
  }

  tracks(
    rendition: string,
    tracks: Partial<Record<TrackKind, TrackDescription>>,
    _init: Buffer,
    isSlate: boolean,
    label?: ListedTrackLabel,
  ): void {
    if (isSlate) return;
    // Held parts belong to the previous tracks.
    if (rendition === sourceRendition) {
      this.#addHeld();
      this.#closeEnding();
      this.#isAudioMissing = false;
    }
    const isRecorded = this.#tracks.set(rendition, tracks, label);
    if (isRecorded && rendition !== sourceRendition && !this.#isWaitingForAudio()) this.#addHeld();
  }

  part(part: RenditionPart): void {
    if (this.#isOver || part.isSlate || !this.#tracks.isRecorded(part.rendition)) return;
    const claimed = { part, samples: samplesOf(part), stored: part.claim() };
    if (!this.#isWaitingForAudio()) {
      this.#add(claimed);
      return;
    }
    this.#held.push(claimed);
    const heldVideo = this.#held.filter(held => held.part.rendition === sourceRendition);
    const heldSeconds = heldVideo.reduce((sum, held) => sum + held.part.durationSeconds, 0);
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
    const { rendition, body: fragment, durationSeconds } = part;
    const partMs = durationSeconds * 1000;
    if (rendition !== sourceRendition) {
      this.#addAudio(rendition, { fragment, samples }, stored);
      return;
    }
    const canBegin = beginsWithKeyframe(this.#tracks.list, samples);
    this.#closeWhenDue(partMs, canBegin);
    if (this.#recording === undefined && canBegin && !this.#isOver) this.#begin(samples);
    if (this.#ending !== undefined) {
      this.#ending.waitedSeconds += durationSeconds;
      if (this.#ending.waitedSeconds > maxAudioWaitSeconds) this.#closeEnding();
    }
    addTo(this.#recording, { tracks: this.#tracks.list, fragment, samples }, stored);
    if (this.#recording !== undefined) this.#recordedMs += partMs;
  }

  /** Demuxed audio comes after its video: audio from before the first frame belongs to the previous recording. */
  #addAudio(rendition: string, part: Omit<RecordedPart, 'tracks'>, stored: PartStored): void {
    const { fragment, samples } = part;
    const id = samples[0]?.trackId ?? 0;
    const ending = this.#ending?.tracks.find(track => track.id === id);
    const track = this.#tracks.list.find(one => one.id === id);
    const timescale = (track ?? ending)?.timescale ?? 1;
    const isEarlier = ({ dtsTicks }: { dtsTicks: number }) =>
      dtsTicks / timescale < this.#beganAtSeconds - toleranceSeconds;
    const count = samples.filter(isEarlier).length;
    const before = ending === undefined ? undefined : this.#ending;
    const now = track === undefined || !this.#tracks.fits(rendition) ? undefined : this.#recording;
    const tracks = this.#tracks.list;
    if (count === samples.length) {
      addTo(before?.recording, { ...part, tracks: before?.tracks ?? tracks }, stored);
      return;
    }
    if (count === 0) {
      this.#audioEnded(id);
      addTo(now, { ...part, tracks }, stored);
      return;
    }
    stored(undefined);
    const [first, rest] = splitFragment(fragment, samples, count);
    before?.recording.add({ tracks: before.tracks, fragment: first, samples: readSamples(first, id) });
    this.#audioEnded(id);
    now?.add({ tracks, fragment: rest, samples: readSamples(rest, id) });
  }

  /** Demuxed audio announces its tracks with its first part, after that of the video. */
  #isWaitingForAudio(): boolean {
    if (!this.#hasAudio || !this.#tracks.hasVideoOnly || this.#isAudioMissing) return false;
    return !(this.#recording === undefined ? this.#tracks.isComplete : this.#tracks.hasDemuxedAudio);
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
    if (isDue && canBegin && this.#tracks.hasDemuxedAudio) {
      this.#closeEnding();
      const { list: tracks } = this.#tracks;
      const audio = tracks.filter(({ kind }) => kind === 'audio');
      this.#ending = {
        recording: this.#recording,
        tracks,
        waitedSeconds: 0,
        awaitedTrackIds: new Set(audio.map(({ id }) => id)),
      };
      this.#recording = undefined;
    } else if (isDue && (canBegin || this.#recordedMs >= maxDurationMs + maxKeyframeWaitMs)) this.#close();
  }

  #begin(samples: readonly LocatedSample[]): void {
    const { factory, broadcast, sharedFiles, stopsAtMax } = this.#options;
    const onStopped = () => {
      if (this.#recording === recording) this.#recording = undefined;
    };
    const continued = this.#hasBegun ? undefined : broadcast.recording;
    this.#hasBegun = true;
    const recording = factory.open({ ...broadcast, recording: continued }, onStopped, sharedFiles);
    this.#recording = recording;
    this.#tracks.beginRecording();
    this.#beganAtSeconds = shownAtSeconds(this.#tracks.list, samples);
    // The sandbox limit applies to the whole broadcast.
    if (!stopsAtMax) this.#recordedMs = 0;
  }

  #close(hasMoved = false): void {
    this.#closeEnding();
    const recording = this.#recording;
    this.#recording = undefined;
    recording?.close(hasMoved);
  }

  #audioEnded(trackId: number): void {
    const awaited = this.#ending?.awaitedTrackIds;
    awaited?.delete(trackId);
    if (awaited?.size === 0) this.#closeEnding();
  }

  #closeEnding(): void {
    const ending = this.#ending;
    this.#ending = undefined;
    ending?.recording.close();
  }
}

function samplesOf({ body, runs, rendition }: RenditionPart): readonly LocatedSample[] {
  return runs === undefined ? readSamples(body, audioTrackIdOf(rendition)) : locateSamples(body, runs);
}

function readSamples(fragment: Buffer, audioTrackId: number): readonly LocatedSample[] {
  return readFragmentLayout(fragment, [videoTrackId, audioTrackId]).samples;
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

/** Returns the time of the first video frame or, without video, of the first audio. */
function shownAtSeconds(tracks: readonly TrackDescription[], samples: readonly LocatedSample[]): number {
  const track = tracks.find(({ kind }) => kind === 'video') ?? tracks[0];
  const first = samples.find(({ trackId }) => trackId === track?.id);
  if (track === undefined || first === undefined) return Number.NEGATIVE_INFINITY;
  return (first.dtsTicks + first.compositionOffsetTicks) / track.timescale;
}
