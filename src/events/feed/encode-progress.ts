import { formatAtom } from '../../shared/clock.ts';
import { encodingProgressType } from './feed-message.ts';

export interface EncodedRendition {
  readonly type: string;
  readonly quality: string;
}

interface ProgressMessage {
  readonly videoId: string;
  readonly text: string;
}

interface Entry {
  readonly videoId: string;
  readonly rendition: EncodedRendition;
  percent: number;
  sentPercent: number | undefined;
  updatedMs: number;
}

const staleAfterMs = 60_000;
const maxEntries = 2_000;

function keyOf(videoId: string, { type, quality }: EncodedRendition): string {
  return `${videoId} ${type} ${quality}`;
}

export class EncodeProgress {
  readonly #entries = new Map<string, Entry>();

  /** @param percent 0..100 @param nowMs monotonic */
  record(videoId: string, renditions: readonly EncodedRendition[], percent: number, nowMs: number): void {
    for (const rendition of renditions) {
      const key = keyOf(videoId, rendition);
      const entry = this.#entries.get(key);
      if (entry !== undefined) {
        entry.percent = Math.floor(percent);
        entry.updatedMs = nowMs;
      } else if (this.#entries.size < maxEntries) {
        this.#entries.set(key, {
          videoId,
          rendition,
          percent: Math.floor(percent),
          sentPercent: undefined,
          updatedMs: nowMs,
        });
      }
    }
  }

  /** Removes finished renditions; their completion is an event. */
  forget(videoId: string, renditions: readonly EncodedRendition[]): void {
    for (const rendition of renditions) this.#entries.delete(keyOf(videoId, rendition));
  }

  /** @param nowMs monotonic. @param atMs time for `emittedAt` */
  takeChanged(nowMs: number, atMs: number): ProgressMessage[] {
    const messages: ProgressMessage[] = [];
    for (const [key, entry] of this.#entries) {
      const { videoId, rendition, percent } = entry;
      if (nowMs - entry.updatedMs > staleAfterMs) this.#entries.delete(key);
      if (entry.sentPercent === percent) continue;
      entry.sentPercent = percent;
      const text = JSON.stringify({
        type: encodingProgressType,
        emittedAt: formatAtom(atMs),
        videoId,
        encoding: rendition.type,
        quality: rendition.quality,
        percent,
      });
      messages.push({ videoId, text });
    }
    return messages;
  }

  clear(): void {
    this.#entries.clear();
  }
}
