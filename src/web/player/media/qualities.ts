/** One rendition of the picture, as far as choosing among them goes. */
export interface QualityLevel {
  /** Addresses of its media playlist. */
  readonly url: readonly string[];
  readonly width: number;
  readonly height: number;
  readonly bitrate: number;
}

/** A quality as the viewer reads it: `720p`. By the name of the rendition; where it has none, by the shorter side. */
export function qualityLabel({ url, width, height }: Omit<QualityLevel, 'bitrate'>): string {
  const named = /\/(\d{3,4}p)\/[^/]+$/.exec(url[0]?.split('?')[0] ?? '')?.[1];
  return named ?? `${Math.min(width, height) || height}p`;
}

/**
 * What a new list of renditions means for one that is being played: nothing new; others beside all that were there, which can be
 * added while it plays; or anything else, which needs a fresh start.
 */
export function compareLevels(
  current: readonly QualityLevel[],
  found: readonly QualityLevel[],
): 'same' | 'added' | 'different' {
  let matched = 0;
  for (const level of found) {
    const present = current[matched];
    if (present !== undefined && isSameLevel(present, level)) matched += 1;
  }
  if (matched < current.length) return 'different';
  return found.length === current.length ? 'same' : 'added';
}

/** Lists name the same rendition alike, whatever session stands behind the `?`. */
export function isSameLevel(one: QualityLevel, other: QualityLevel): boolean {
  return playlistPath(one) === playlistPath(other);
}

function playlistPath({ url }: QualityLevel): string | undefined {
  return url[0]?.split('?')[0];
}
