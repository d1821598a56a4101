interface QualityLevel {
  readonly url: readonly string[];
  readonly width: number;
  readonly height: number;
  readonly bitrate: number;
}

/** The name of the rendition, else the shorter side, such as `720p`. */
export function qualityLabel({ url, width, height }: Omit<QualityLevel, 'bitrate'>): string {
  const named = /\/(?:\w+-)?(\d{3,4}p)\/[^/]+$/.exec(url[0]?.split('?')[0] ?? '')?.[1];
  return named ?? `${Math.min(width, height) || height}p`;
}

/** Compares renditions: `added` ones can join during playback, `different` ones need a restart. */
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

/** Ignores the query, which holds the session. */
export function isSameLevel(one: QualityLevel, other: QualityLevel): boolean {
  return playlistPath(one) === playlistPath(other);
}

function playlistPath({ url }: QualityLevel): string | undefined {
  return url[0]?.split('?')[0];
}
