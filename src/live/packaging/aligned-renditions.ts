import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import { audioRendition, sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { LiveObserver } from '../broadcast/ports.ts';
import { RenditionFeed } from '../transcode/rendition-feed.ts';
import { AlignedSegmenter } from './aligned-segmenter.ts';
import type { PackagingOutput } from './packaging-output.ts';

export class AlignedRenditions {
  readonly #output: PackagingOutput;
  readonly #observer: LiveObserver;
  #audioSegmenter: AlignedSegmenter | undefined;
  readonly #feeds: RenditionFeed[] = [];
  readonly #renditionTracks = new Map<string, TrackDescription>();
  #presentationOffsetMs = 0;

  constructor(output: PackagingOutput, observer: LiveObserver) {
    this.#output = output;
    this.#observer = observer;
  }

  get hasAudio(): boolean {
    return this.#audioSegmenter !== undefined;
  }

  get segmenters(): readonly AlignedSegmenter[] {
    const video = this.#feeds.map(({ segmenter }) => segmenter);
    return this.#audioSegmenter === undefined ? video : [this.#audioSegmenter, ...video];
  }

  /** Includes those of former sessions, which have viewers. @param renditions lowest first */
  add(renditions: readonly string[], audio: TrackDescription | undefined, isDemuxed: boolean): void {
    const names = new Set(this.#output.renditions.others.map(({ name }) => name));
    if (isDemuxed && audio !== undefined) names.add(audioRendition);
    for (const name of renditions) names.add(name);
    for (const name of names) {
      if (name === audioRendition) this.#addAudio(audio);
      else this.#addVideo(name, renditions);
    }
  }

  #addAudio(audio: TrackDescription | undefined): void {
    const track = audio ?? this.#output.renditions.getOrCreate(audioRendition).tracks.audio;
    this.#audioSegmenter = this.#createSegmenter(audioRendition, 'audio');
    if (track === undefined) return;
    this.#audioSegmenter.useTrack(track);
    // Subscribers get its samples from now on, before the first part is full.
    this.#output.setTracks(audioRendition, { audio: track });
  }

  #addVideo(name: string, renditions: readonly string[]): void {
    const feed = new RenditionFeed(this.#createSegmenter(name, 'video'), closestRendition(name, renditions));
    this.#feeds.push(feed);
    const track = this.#renditionTracks.get(feed.currentRendition);
    if (track !== undefined) feed.segmenter.useTrack(track);
  }

  #createSegmenter(name: string, kind: TrackKind): AlignedSegmenter {
    const output = this.#output;
    return new AlignedSegmenter({
      rendition: output.renditions.getOrCreate(name),
      kind,
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
  }

  /** @returns false when the rung has this track already, from a former encoder */
  setRungTrack(name: string, track: TrackDescription): boolean {
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

  addAudioSample(sample: Sample, atMs: number): void {
    this.#audioSegmenter?.add(sample, atMs);
  }

  addRungSample(name: string, sample: Sample, atMs: number): void {
    for (const feed of this.#feeds) feed.deliver(name, sample, atMs);
  }

  /** Continues a dropped rung's rendition with the next lower one. @param renditions those that are left */
  replaceRendition(name: string, renditions: readonly string[], fromMs: number): void {
    const lower = renditions.at(-1) ?? sourceRendition;
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
    for (const segmenter of this.segmenters) segmenter.finish();
  }
}

/** The rung itself, else the best below it, else the lowest, else the source. */
function closestRendition(name: string, renditions: readonly string[]): string {
  if (renditions.includes(name)) return name;
  const lines = Number.parseInt(name, 10);
  return renditions.findLast(name => Number.parseInt(name, 10) <= lines) ?? renditions[0] ?? sourceRendition;
}
