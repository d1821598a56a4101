/** A rest shorter than this is not worth a segment. */
const SHORTEST_REST_SECONDS = 0.5;

/** Where sound is to be cut, and how far the media must reach for that. Seconds since the first presented instant. */
export interface Boundary {
  readonly seconds: number;
  /** The cut is made only where there is media up to here. */
  readonly neededSeconds: number;
}

/**
 * Where sound is to be cut, so that its segments are those of the picture: at each of the picture's segment starts, and, where the sound
 * goes on after the picture, at its end and then every `segmentSeconds`.
 *
 * @param picture `videoStartsSeconds` from the first segment on, `[0]` without a picture; `videoEndSeconds` undefined without one
 * @returns the boundary after the segment `index`, from 0
 */
export function audioBoundaries(picture: {
  readonly videoStartsSeconds: readonly number[];
  readonly videoEndSeconds: number | undefined;
  readonly segmentSeconds: number;
}): (index: number) => Boundary {
  const { videoStartsSeconds: starts, videoEndSeconds, segmentSeconds } = picture;
  return index => {
    const start = starts[index + 1];
    if (start !== undefined) return { seconds: start, neededSeconds: start };
    const further = index + 1 - starts.length;
    const seconds =
      videoEndSeconds === undefined
        ? (starts.at(-1) ?? 0) + (further + 1) * segmentSeconds
        : videoEndSeconds + further * segmentSeconds;
    return { seconds, neededSeconds: seconds + SHORTEST_REST_SECONDS };
  };
}
