import { formatAtom } from '../../shared/clock.ts';
import { encodingProgressType } from './feed-message.ts';

/** A rendition that is being encoded. */
export interface EncodedRendition {
  readonly type: string;
  readonly quality: string;
}

/** What there is to tell of one rendition. */
export interface ProgressMessage {
  readonly projectId: string;
  readonly videoId: string;
  readonly text: string;
}

interface Entry {
  readonly projectId: string;
  readonly videoId: string;
  readonly rendition: EncodedRendition;
  percent: number;
  toldPercent: number | undefined;
  notedMs: number;
}

/** An encode that is silent for this long is over. */
const staleAfterMs = 60_000;
/** Many times what a machine can encode at once. */
const maxEntries = 2_000;

function keyOf(videoId: string, { type, quality }: EncodedRendition): string {
  return `${videoId} ${type} ${quality}`;
}

/** Remembers how far each rendition is, and what of that was told. */
export class EncodeProgress {
  readonly #entries = new Map<string, Entry>();

  /** @param percent 0..100 @param nowMs monotonic */
  record(
    projectId: string,
    videoId: string,
    renditions: readonly EncodedRendition[],
    percent: number,
    nowMs: number,
  ): void {
    for (const rendition of renditions) {
      const key = keyOf(videoId, rendition);
      const entry = this.#entries.get(key);
      if (entry !== undefined) {
        entry.percent = Math.floor(percent);
        entry.notedMs = nowMs;
      } else if (this.#entries.size < maxEntries) {
        this.#entries.set(key, {
          projectId,
          videoId,
          rendition,
          percent: Math.floor(percent),
          toldPercent: undefined,
          notedMs: nowMs,
        });
      }
    }
  }

  /** Forgets renditions that are done: what is told of them from now on is an event. */
  forget(videoId: string, renditions: readonly EncodedRendition[]): void {
    for (const rendition of renditions) this.#entries.delete(keyOf(videoId, rendition));
  }

  /** What has changed since it was taken the last time. @param nowMs monotonic @param atMs for `emittedAt` */
  takeChanged(nowMs: number, atMs: number): ProgressMessage[] {
    const messages: ProgressMessage[] = [];
    for (const [key, entry] of this.#entries) {
      const { projectId, videoId, rendition, percent } = entry;
      if (nowMs - entry.notedMs > staleAfterMs) this.#entries.delete(key);
      if (entry.toldPercent === percent) continue;
      entry.toldPercent = percent;
      const text = JSON.stringify({
        type: encodingProgressType,
        emittedAt: formatAtom(atMs),
        videoId,
        encoding: rendition.type,
        quality: rendition.quality,
        percent,
      });
      messages.push({ projectId, videoId, text });
    }
    return messages;
  }

  /** Nobody listens any more. */
  clear(): void {
    this.#entries.clear();
  }
}
