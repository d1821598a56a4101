import type { PlayerMedia } from '../element/player-media.ts';

const storageKey = 'millrace.positions';
const maxVideos = 100;
/** Closer to the start or the end, a video begins at the start: seconds, and the share of a short video. */
const startSeconds = 10;
const endSeconds = 15;
const edgeShare = 0.05;
const minSaveMs = 5000;

/** Saves the position of the viewer in a video, and continues there. */
export class Resume {
  readonly #player: HTMLElement;
  #resumedId: string | undefined;
  #savedAtMs = 0;

  /** @param player has the attributes `resume` and `start` */
  constructor(player: HTMLElement) {
    this.#player = player;
  }

  saveSometimes(media: PlayerMedia): void {
    if (performance.now() - this.#savedAtMs > minSaveMs) this.save(media);
  }

  save(media: PlayerMedia | undefined): void {
    const { id, kind } = media?.details ?? {};
    if (media === undefined || id === undefined || kind !== 'video') return;
    if (!this.#player.hasAttribute('resume') || !media.hasBegun) return;
    this.#savedAtMs = performance.now();
    savePosition(id, media.isAtEnd ? 0 : media.currentTime, media.duration);
  }

  /** Continues a video once it can be sought. @returns the position; undefined if it begins at its start */
  continue(media: PlayerMedia): number | undefined {
    const { id, kind } = media.details ?? {};
    if (id === undefined || kind !== 'video' || media.phase !== 'ready' || id === this.#resumedId) return;
    if (!(media.duration > 0 && media.availableSeconds > 0) || media.readyState === 0) return;
    this.#resumedId = id;
    const seconds = savedPosition(id, media.duration);
    if (seconds === undefined || !this.#player.hasAttribute('resume') || this.#player.hasAttribute('start'))
      return;
    media.currentTime = seconds;
    return seconds;
  }
}

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
function savedPosition(videoId: string, durationSeconds: number): number | undefined {
  const seconds = load().find(([id]) => id === videoId)?.[1];
  return seconds !== undefined && isInside(seconds, durationSeconds) ? seconds : undefined;
}

function savePosition(videoId: string, seconds: number, durationSeconds: number): void {
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
