import type { IndexedRendition, OpenRendition } from './rendition.ts';

/** A rest shorter than this is not worth a segment. */
const MIN_LAST_SEGMENT_SECONDS = 0.5;

/** Where a segment is to end, and how far the media must reach for that. Seconds since the first presented instant. */
export interface Boundary {
  readonly seconds: number;
  /** The cut is made only where there is media up to here. */
  readonly neededSeconds: number;
}

/** Where the segments of a rendition begin, for another one that is to be cut there too. Seconds since the first presented instant. */
export interface SegmentBoundaries {
  /** Start of a segment, from 0 on; undefined when it is not known, or there is none. */
  startSeconds(index: number): number | undefined;
  /** The number of segments and the end of the last one; undefined while it is not known which one is the last. */
  end(): { readonly segmentCount: number; readonly seconds: number } | undefined;
}

/** The boundaries of a finished rendition. */
export function boundariesOf(rendition: OpenRendition | IndexedRendition): SegmentBoundaries {
  const starts =
    'segmentStartsSeconds' in rendition
      ? rendition.segmentStartsSeconds
      : Array.from({ length: rendition.segmentCount }, (_, index) => rendition.startSeconds(index));
  const { durationTicks, timescale } = 'facts' in rendition ? rendition.facts : rendition;
  const end = { segmentCount: starts.length, seconds: (starts[0] ?? 0) + durationTicks / timescale };
  return { startSeconds: index => starts[index], end: () => end };
}

/**
 * Where the segment `index` of a rendition is to end: where that of the other one ends; after the last of those, which is no reason to
 * cut if nothing much follows, every `segmentSeconds`.
 *
 * @param boundaries undefined: every `segmentSeconds` from the first presented instant on
 * @returns undefined when it is not known yet
 */
export function boundaryAfter(
  index: number,
  boundaries: SegmentBoundaries | undefined,
  segmentSeconds: number,
): Boundary | undefined {
  if (boundaries === undefined) return needing((index + 1) * segmentSeconds);
  const start = boundaries.startSeconds(index + 1);
  if (start !== undefined) return { seconds: start, neededSeconds: start };
  const end = boundaries.end();
  if (end === undefined) return undefined;
  return needing(end.seconds + (index + 1 - Math.max(1, end.segmentCount)) * segmentSeconds);
}

function needing(seconds: number): Boundary {
  return { seconds, neededSeconds: seconds + MIN_LAST_SEGMENT_SECONDS };
}
