import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { LocatedSample } from '../../media/cmaf/movie-fragment.ts';

/** Shortest gap that is removed. */
const minGapSeconds = 0.1;

/** Maps the time of a broadcast to that of its recording, which starts at its first frame and skips gaps. */
export class RecordingTimeline {
  #offsetSeconds: number | undefined;
  #endSeconds = 0;
  readonly #trackEnds = new Map<number, number>();

  /** Begins with the next part, without a gap before it. */
  beginTracks(): void {
    this.#trackEnds.clear();
  }

  /** Distance of the recording's time from that of the broadcast. */
  offsetTicks({ timescale }: TrackDescription): number {
    return Math.round((this.#offsetSeconds ?? 0) * timescale);
  }

  /** Returns the offset of decode times in ticks, by track id. */
  place(samples: readonly LocatedSample[], tracks: readonly TrackDescription[]): Map<number, number> {
    const runs = [];
    let startSeconds = Number.POSITIVE_INFINITY;
    for (const { id, timescale } of tracks) {
      const first = samples.find(({ trackId }) => trackId === id);
      const last = samples.findLast(({ trackId }) => trackId === id);
      if (first === undefined || last === undefined) continue;
      const startTicks = first.dtsTicks;
      runs.push({ id, timescale, startTicks, endTicks: last.dtsTicks + last.durationTicks });
      startSeconds = Math.min(startSeconds, startTicks / timescale);
    }
    const isBeginning = this.#trackEnds.size === 0;
    this.#offsetSeconds ??= startSeconds;
    const gap = startSeconds - this.#offsetSeconds - this.#endSeconds;
    if (gap > minGapSeconds || isBeginning) this.#offsetSeconds += gap;
    const shifts = new Map<number, number>();
    for (const { id, timescale, startTicks, endTicks } of runs) {
      const moved = startTicks - Math.round(this.#offsetSeconds * timescale);
      // Decode times of a track never decrease, and are never negative.
      const placed = Math.max(moved, this.#trackEnds.get(id) ?? 0);
      shifts.set(id, placed - startTicks);
      const end = placed + endTicks - startTicks;
      this.#trackEnds.set(id, end);
      this.#endSeconds = Math.max(this.#endSeconds, end / timescale);
    }
    return shifts;
  }
}
