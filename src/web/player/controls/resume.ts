const storageKey = 'millrace.positions';
const maxVideos = 100;
/** Closer to the start or the end, a video begins at the start: seconds, and the share of a short video. */
const startSeconds = 10;
const endSeconds = 15;
const edgeShare = 0.05;

/** Seconds by video, the one that was watched last at the end. */
function load(): [string, number][] {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? '[]') as unknown;
    if (!Array.isArray(stored)) return [];
    return stored.filter(
      (entry): entry is [string, number] =>
        Array.isArray(entry) && typeof entry[0] === 'string' && Number.isFinite(entry[1]),
    );
  } catch {
    return [];
  }
}

/** Position at which the viewer left a video; undefined at its start. */
export function savedPosition(videoId: string, durationSeconds: number): number | undefined {
  const seconds = load().find(([id]) => id === videoId)?.[1];
  return seconds !== undefined && isInside(seconds, durationSeconds) ? seconds : undefined;
}

export function savePosition(videoId: string, seconds: number, durationSeconds: number): void {
  const others = load().filter(([id]) => id !== videoId);
  const own: [string, number][] = isInside(seconds, durationSeconds) ? [[videoId, Math.floor(seconds)]] : [];
  try {
    localStorage.setItem(storageKey, JSON.stringify([...others, ...own].slice(-maxVideos)));
  } catch {
    // A frame on another site may have no storage.
  }
}

function isInside(seconds: number, durationSeconds: number): boolean {
  const edge = durationSeconds * edgeShare;
  return seconds > Math.min(startSeconds, edge) && seconds < durationSeconds - Math.min(endSeconds, edge);
}
