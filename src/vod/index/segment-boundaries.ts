import type { IndexedRendition, OpenRendition } from './rendition.ts';

/** Shortest last segment: shorter media at the end of a track joins the segment before. */
const MIN_LAST_SEGMENT_SECONDS = 0.5;

export interface Boundary {
  readonly seconds: number;
  /** The segment ends there only if the track has media up to this time. */
  readonly neededSeconds: number;
}

/** Boundaries in seconds since the first presented instant. */
export interface SegmentBoundaries {
  startSeconds(index: number): number | undefined;
  end(): { readonly segmentCount: number; readonly seconds: number } | undefined;
}

export function boundariesOf(rendition: OpenRendition | IndexedRendition): SegmentBoundaries {
  const starts =
    'segmentStartsSeconds' in rendition
      ? rendition.segmentStartsSeconds
      : Array.from({ length: rendition.segmentCount }, (_, index) => rendition.startSeconds(index));
  const { durationTicks, timescale } =
    'renditionMetadata' in rendition ? rendition.renditionMetadata : rendition;
  const end = { segmentCount: starts.length, seconds: (starts[0] ?? 0) + durationTicks / timescale };
  return { startSeconds: index => starts[index], end: () => end };
}

/** The end of the other rendition's segment, then multiples of `segmentSeconds`. Undefined while unknown. */
export function boundaryAfter(
  index: number,
  boundaries: SegmentBoundaries | undefined,
  segmentSeconds: number,
): Boundary | undefined {
  if (boundaries === undefined) return withMinimum((index + 1) * segmentSeconds);
  const start = boundaries.startSeconds(index + 1);
  if (start !== undefined) return { seconds: start, neededSeconds: start };
  const end = boundaries.end();
  if (end === undefined) return undefined;
  return withMinimum(end.seconds + (index + 1 - Math.max(1, end.segmentCount)) * segmentSeconds);
}

function withMinimum(seconds: number): Boundary {
  return { seconds, neededSeconds: seconds + MIN_LAST_SEGMENT_SECONDS };
}
