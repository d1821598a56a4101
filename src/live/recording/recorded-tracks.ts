import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { canonicalLanguageTag } from '../../shared/text/language-tag.ts';
import { trackTitle } from '../../shared/text/track-title.ts';
import { audioRendition, sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import {
  audioRenditionName,
  audioTrackIdOf,
  mainAudioGroup,
  parseAudioRendition,
} from '../transcode/audio-renditions.ts';
import { type ListedTrackLabel, listedAudioLabels } from '../window/listed-audio.ts';

type Tracks = Partial<Record<TrackKind, TrackDescription>>;

const mainTrackId = 0;
const videoId = 1;
const lateReason = 'The track started after the recording.';
const changedReason = 'The track came back in another format.';

/** The tracks of a recording: those of the source, and the additional audio that was there when it began. */
export class RecordedTracks {
  #source: Tracks | undefined;
  #audio: TrackDescription | undefined;
  /** Additional tracks by the publisher's track id. */
  readonly #additional = new Map<number, TrackDescription>();
  readonly #labels = new Map<number, ListedTrackLabel>();
  #expected: readonly number[] = [];
  #recorded: ReadonlyMap<number, TrackDescription> = new Map();
  #recordedLabels: ReadonlyMap<number, ListedTrackLabel> = new Map();
  /** The same object until the tracks change. */
  #list: readonly TrackDescription[] | undefined;

  get hasVideoOnly(): boolean {
    return this.#source?.video !== undefined && this.#source.audio === undefined;
  }

  get hasDemuxedAudio(): boolean {
    return this.#source?.audio === undefined && this.#audio !== undefined;
  }

  /** True when everything that is expected at the start of the recording is there. */
  get isComplete(): boolean {
    return this.#audio !== undefined && this.#expected.every(trackId => this.#additional.has(trackId));
  }

  /** Tracks in the order of menus, with video first. */
  get list(): readonly TrackDescription[] {
    this.#list ??= this.#describe();
    return this.#list;
  }

  expect(renditions: readonly string[]): void {
    this.#expected = renditions.flatMap(rendition => additionalTrackId(rendition) ?? []);
  }

  /** @returns false for a rendition that is not recorded */
  set(rendition: string, tracks: Tracks, label: ListedTrackLabel | undefined): boolean {
    const additional = additionalTrackId(rendition);
    if (additional !== undefined) {
      if (tracks.audio !== undefined) this.#additional.set(additional, tracks.audio);
      if (label !== undefined) this.#labels.set(additional, label);
      return true;
    }
    if (rendition !== sourceRendition && rendition !== audioRendition) return false;
    if (rendition === audioRendition) this.#audio = tracks.audio;
    else {
      this.#source = tracks;
      if (tracks.audio === undefined) this.#audio = undefined;
    }
    if (label !== undefined) this.#labels.set(mainTrackId, label);
    this.#list = undefined;
    return true;
  }

  /** Chooses the tracks of the next recording, which keeps them to its end. */
  beginRecording(): void {
    this.#recorded = new Map(this.hasDemuxedAudio ? this.#additional : []);
    this.#recordedLabels = new Map(this.#labels);
    this.#list = undefined;
  }

  isRecorded(rendition: string): boolean {
    if (this.#source === undefined) return false;
    if (rendition === sourceRendition) return true;
    if (this.#source.audio !== undefined) return false;
    return rendition === audioRendition || additionalTrackId(rendition) !== undefined;
  }

  /** False for parts that do not fit the recording, which keeps its tracks to the end. */
  fits(rendition: string): boolean {
    const trackId = additionalTrackId(rendition);
    if (trackId === undefined) return true;
    const recorded = this.#recorded.get(trackId);
    const current = this.#additional.get(trackId);
    return recorded !== undefined && current !== undefined && hasSameFormat(recorded, current);
  }

  /** Additional audio that is not in the recording, by rendition, with the reason as a sentence. */
  get leftOut(): Map<string, string> {
    const reasons = new Map<string, string>();
    for (const [trackId, track] of this.#additional) {
      const recorded = this.#recorded.get(trackId);
      const rendition = audioRenditionName(trackId);
      if (recorded === undefined) reasons.set(rendition, lateReason);
      else if (!hasSameFormat(recorded, track)) reasons.set(rendition, changedReason);
    }
    return reasons;
  }

  #describe(): TrackDescription[] {
    const video = this.#source?.video;
    const main = this.#source?.audio ?? this.#audio;
    const audio = new Map([
      ...(main === undefined ? [] : [[mainTrackId, main] as const]),
      ...(this.hasDemuxedAudio ? this.#recorded : []),
    ]);
    const listed = listedAudioLabels([...audio.keys()], trackId => this.#recordedLabels.get(trackId));
    const described = [...listed].map(([trackId, { name, isDefault }]) => {
      const own = this.#recordedLabels.get(trackId);
      const language = canonicalLanguageTag(own?.language ?? '');
      // The language names the others.
      const isNumbered = language === undefined && audio.size > 1;
      const title = trackTitle(own?.name) ?? (isNumbered ? name : undefined);
      const isLabelled = audio.size > 1 || title !== undefined || language !== undefined;
      return {
        ...audio.get(trackId)!,
        id: audioTrackIdOf(audioRenditionName(trackId)),
        ...(isLabelled ? { label: { name: title, language, isDefault } } : {}),
      };
    });
    return [...(video === undefined ? [] : [{ ...video, id: videoId }]), ...described];
  }
}

/** Undefined for renditions of the main audio and of video. */
function additionalTrackId(rendition: string): number | undefined {
  const { groupId, trackId } = parseAudioRendition(rendition) ?? {};
  return groupId === mainAudioGroup && trackId !== mainTrackId ? trackId : undefined;
}

function hasSameFormat(one: TrackDescription, other: TrackDescription): boolean {
  return one.timescale === other.timescale && one.sampleEntry.equals(other.sampleEntry);
}
