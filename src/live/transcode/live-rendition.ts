import { writeInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { RenditionReport } from '../../media/hls/media-playlist.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { FillerWriter } from '../packaging/filler-writer.ts';
import { LiveWindow, type LiveWindowOptions } from '../window/live-window.ts';
import { audioTrackIdOf } from './audio-renditions.ts';

export class LiveRendition {
  /** Path component of its URLs: `source`, `audio`, `720p`. */
  readonly name: string;
  readonly window: LiveWindow;
  #tracks: Partial<Record<TrackKind, TrackDescription>> = {};
  #peakBitsPerSecond = 0;

  constructor(name: string, options: LiveWindowOptions) {
    this.name = name;
    this.window = new LiveWindow({
      ...options,
      filler: new FillerWriter(() => this.#tracks, audioTrackIdOf(name)),
    });
  }

  get tracks(): Partial<Record<TrackKind, TrackDescription>> {
    return this.#tracks;
  }

  /** Applies to the next segments; returns their init section. */
  setTracks(tracks: Partial<Record<TrackKind, TrackDescription>>): Buffer {
    this.#tracks = tracks;
    const init = this.#initOf(tracks);
    this.window.useInit(init);
    return init;
  }

  /** Tells whether these tracks need the current init section. */
  hasSameInit(tracks: Partial<Record<TrackKind, TrackDescription>>): boolean {
    return this.#initOf(this.#tracks).equals(this.#initOf(tracks));
  }

  /** The peak of the whole broadcast, and the average of the listed segments; before there are any, an estimate. */
  measureBandwidth(): {
    peakBitsPerSecond: number;
    averageBitsPerSecond: number;
    estimatedBitsPerSecond?: number | undefined;
    leadInBitsPerSecond: number;
  } {
    const { peakBitsPerSecond, averageBitsPerSecond } = this.window.measureBandwidth();
    this.#peakBitsPerSecond = Math.max(this.#peakBitsPerSecond, peakBitsPerSecond);
    const { leadInBitsPerSecond } = this.window;
    const measured = {
      peakBitsPerSecond: this.#peakBitsPerSecond,
      averageBitsPerSecond,
      leadInBitsPerSecond,
    };
    if (averageBitsPerSecond > 0) return measured;
    return { ...measured, estimatedBitsPerSecond: this.window.estimateOpenBitsPerSecond() };
  }

  #initOf({ video, audio }: Partial<Record<TrackKind, TrackDescription>>): Buffer {
    return writeInitSegment([
      ...(video === undefined ? [] : [{ ...video, id: 1 }]),
      ...(audio === undefined ? [] : [{ ...audio, id: audioTrackIdOf(this.name) }]),
    ]);
  }
}

export function renditionReports(renditions: Iterable<LiveRendition>, ownName: string): RenditionReport[] {
  const reports: RenditionReport[] = [];
  for (const { name, window } of renditions) {
    const edge = name === ownName ? undefined : window.liveEdge;
    if (edge !== undefined) reports.push({ uri: `../${name}/index.m3u8`, ...edge });
  }
  return reports;
}
