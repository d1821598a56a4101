import type { FragmentLayout } from '../../media/cmaf/fragment-layout.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';

/** Less than this is no hole: parts end where frames do, which are not at the same instants in picture and sound. */
const minGapSeconds = 0.02;

/**
 * The time of a recording: that of its broadcast, from its own first frame on, without the holes that were left by what is not
 * recorded and by what never came.
 */
export class RecordingTimeline {
  /** What is taken away from the broadcast's time. */
  #offsetSeconds: number | undefined;
  /** End of what was placed, on this clock. */
  #endSeconds = 0;
  /** Decode time after the last sample of each track, on this clock. */
  readonly #trackEnds = new Map<number, number>();

  /** How long the recording is. */
  get endSeconds(): number {
    return this.#endSeconds;
  }

  /** Other tracks begin, in a file of their own, right after those before. */
  beginTracks(): void {
    this.#trackEnds.clear();
  }

  /** What is to be added to the decode times of the next fragment, in ticks, by the id of the track. */
  place({ samples }: FragmentLayout, tracks: readonly TrackDescription[]): Map<number, number> {
    const runs = tracks.flatMap(({ id, timescale }) => {
      const own = samples.filter(({ trackId }) => trackId === id);
      const [first, last] = [own[0], own.at(-1)];
      if (first === undefined || last === undefined) return [];
      return [{ id, timescale, startTicks: first.dtsTicks, endTicks: last.dtsTicks + last.durationTicks }];
    });
    const startSeconds = Math.min(...runs.map(({ startTicks, timescale }) => startTicks / timescale));
    const isBeginning = this.#trackEnds.size === 0;
    this.#offsetSeconds ??= startSeconds;
    const hole = startSeconds - this.#offsetSeconds - this.#endSeconds;
    if (hole > minGapSeconds || isBeginning) this.#offsetSeconds += hole;
    const shifts = new Map<number, number>();
    for (const { id, timescale, startTicks, endTicks } of runs) {
      const moved = startTicks - Math.round(this.#offsetSeconds * timescale);
      // No track goes back, whatever the other one does; nor before the beginning.
      const placed = Math.max(moved, this.#trackEnds.get(id) ?? 0);
      shifts.set(id, placed - startTicks);
      const end = placed + endTicks - startTicks;
      this.#trackEnds.set(id, end);
      this.#endSeconds = Math.max(this.#endSeconds, end / timescale);
    }
    return shifts;
  }
}
