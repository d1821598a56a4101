import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { audioRendition, sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { LiveObserver } from '../broadcast/ports.ts';
import { parseAudioRendition } from '../transcode/audio-renditions.ts';
import { RenditionFeed } from '../transcode/rendition-feed.ts';
import { AlignedSegmenter } from './aligned-segmenter.ts';
import type { PackagingOutput } from './packaging-output.ts';

interface AudioFeed {
  readonly segmenter: AlignedSegmenter;
  /** False when viewers of a rendition that has no track in this session get the main audio. */
  hasOwnTrack: boolean;
}

export class AlignedRenditions {
  readonly #output: PackagingOutput;
  readonly #observer: LiveObserver;
  readonly #onSegmentBegan: (rendition: string, isAligned: boolean) => void;
  readonly #segmenters: AlignedSegmenter[] = [];
  readonly #audio = new Map<string, AudioFeed>();
  readonly #feeds: RenditionFeed[] = [];
  readonly #renditionTracks = new Map<string, TrackDescription>();
  #presentationOffsetMs = 0;

  constructor(
    output: PackagingOutput,
    observer: LiveObserver,
    onSegmentBegan: (rendition: string, isAligned: boolean) => void,
  ) {
    this.#output = output;
    this.#observer = observer;
    this.#onSegmentBegan = onSegmentBegan;
  }

  get hasAudio(): boolean {
    return this.#audio.size > 0;
  }

  /** Segmenters so far; those that begin later follow. */
  get segmenters(): readonly AlignedSegmenter[] {
    return this.#segmenters;
  }

  /**
   * Includes those of former sessions, which have viewers.
   * @param renditions lowest first
   * @param additional those of them, and of audio, that the encoder sends itself
   */
  add(
    renditions: readonly string[],
    audio: TrackDescription | undefined,
    isDemuxed: boolean,
    additional: readonly string[],
  ): void {
    const names = new Set(this.#output.renditions.others.map(({ name }) => name));
    if (isDemuxed && audio !== undefined) names.add(audioRendition);
    for (const name of [...additional, ...renditions]) names.add(name);
    for (const name of names) {
      if (name === audioRendition) this.#addMainAudio(audio);
      else if (parseAudioRendition(name) === undefined)
        this.#addVideo(name, renditions, additional.includes(name));
      else this.#addAudio(name, audio, additional.includes(name));
    }
  }

  #addMainAudio(audio: TrackDescription | undefined): void {
    const track = audio ?? this.#output.renditions.getOrCreate(audioRendition).tracks.audio;
    this.#addAudio(audioRendition, track, false);
    // Subscribers get its samples from now on, before the first part is full.
    if (track !== undefined) this.#output.setTracks(audioRendition, { audio: track });
  }

  #addAudio(name: string, main: TrackDescription | undefined, hasOwnTrack: boolean): void {
    const segmenter = this.#createSegmenter(name, 'audio');
    if (!hasOwnTrack && main !== undefined) segmenter.useTrack(main);
    this.#audio.set(name, { segmenter, hasOwnTrack });
  }

  /** Adds a rendition, or gives it a track of its own, from the next segment on. */
  beginAudio(name: string): void {
    if (!this.#audio.has(name)) this.#addAudio(name, undefined, true);
  }

  /** @returns false when there is no such rendition */
  setAudioTrack(name: string, track: TrackDescription): boolean {
    const feed = this.#audio.get(name);
    if (feed === undefined) return false;
    feed.hasOwnTrack = true;
    feed.segmenter.useTrack(track);
    return true;
  }

  #addVideo(name: string, renditions: readonly string[], hasOwnFrames: boolean): void {
    const segmenter = this.#createSegmenter(name, 'video', hasOwnFrames);
    const feed = new RenditionFeed(segmenter, closestRendition(name, renditions));
    this.#feeds.push(feed);
    const track = this.#renditionTracks.get(feed.currentRendition);
    if (track !== undefined) feed.segmenter.useTrack(track);
  }

  #createSegmenter(name: string, kind: TrackKind, hasOwnFrames = false): AlignedSegmenter {
    const output = this.#output;
    const segmenter = new AlignedSegmenter({
      rendition: output.renditions.getOrCreate(name),
      kind,
      hasOwnFrames,
      onSegmentBegan: isAligned => this.#onSegmentBegan(name, isAligned),
      ...(kind === 'audio' ? { presentationOffsetMs: () => this.#presentationOffsetMs } : {}),
      onTrack: (track, init) => {
        output.renditions.invalidate();
        output.tracksChanged(name, { [kind]: track }, init);
      },
      onPart: part => {
        output.partListed(name, part);
        const lagMs = kind === 'audio' ? undefined : output.lagMs('video', part.newestFrameMs);
        if (lagMs !== undefined) this.#observer.renditionPartListed?.(lagMs);
      },
    });
    this.#segmenters.push(segmenter);
    return segmenter;
  }

  /** @returns false when the rung has this track already, from a former encoder */
  setRenditionTrack(name: string, track: TrackDescription): boolean {
    const former = this.#renditionTracks.get(name);
    if (former?.sampleEntry.equals(track.sampleEntry) === true && former.timescale === track.timescale)
      return false;
    this.#renditionTracks.set(name, track);
    for (const feed of this.#feeds) if (feed.currentRendition === name) feed.segmenter.useTrack(track);
    return true;
  }

  /** Audio is cut where the video of this keyframe is presented. */
  setPresentationOffset(offsetMs: number): void {
    this.#presentationOffsetMs = offsetMs;
  }

  addMainAudioSample(sample: Sample, atMs: number): void {
    for (const { segmenter, hasOwnTrack } of this.#audio.values()) {
      if (!hasOwnTrack) segmenter.add(sample, atMs);
    }
  }

  addAudioSample(name: string, sample: Sample, atMs: number): void {
    this.#audio.get(name)?.segmenter.add(sample, atMs);
  }

  addRungSample(name: string, sample: Sample, atMs: number): void {
    for (const feed of this.#feeds) feed.deliver(name, sample, atMs);
  }

  /** Continues a dropped rung's rendition with the next lower one. @param renditions those that are left */
  replaceRendition(name: string, renditions: readonly string[], fromMs: number): void {
    const lower = closestRendition(name, renditions);
    for (const feed of this.#feeds) if (feed.nextRendition === name) feed.switchTo(lower, fromMs);
  }

  completeSwitches(): void {
    for (const feed of this.#feeds) {
      const { heldSamples } = feed;
      if (!feed.completeSwitch()) continue;
      const track = this.#renditionTracks.get(feed.currentRendition);
      if (track !== undefined) feed.segmenter.useTrack(track);
      for (const [sample, atMs] of heldSamples) feed.segmenter.add(sample, atMs);
    }
    this.#output.renditions.invalidate();
  }

  finish(): void {
    for (const segmenter of this.#segmenters) segmenter.finish();
  }
}

/** The rung itself, else the best below it, else the lowest, else the source. */
function closestRendition(name: string, renditions: readonly string[]): string {
  if (renditions.includes(name)) return name;
  const lines = Number.parseInt(name, 10);
  return renditions.findLast(name => Number.parseInt(name, 10) <= lines) ?? renditions[0] ?? sourceRendition;
}
