import type { RestreamTag } from '../../media/flv/flv-tag.ts';

/** All destinations of a broadcast share the buffers. */
const maxPendingMs = 3_000;
const maxPendingBytes = 4 * 1024 * 1024;

/** Media since the last keyframe, for a connection in the making: servers soon disconnect silent publishers. */
export class PendingMedia {
  #tags: RestreamTag[] = [];
  #bytes = 0;

  /** @param isStart media can begin with this tag */
  add(tag: RestreamTag, isStart: boolean): void {
    const [first] = this.#tags;
    if (isStart && (tag.kind === 'video' || first === undefined)) this.take();
    else if (first === undefined) return;
    this.#tags.push(tag);
    this.#bytes += tag.body.length;
    if (tag.atMs - (first ?? tag).atMs > maxPendingMs || this.#bytes > maxPendingBytes) this.take();
  }

  take(): readonly RestreamTag[] {
    const tags = this.#tags;
    this.#tags = [];
    this.#bytes = 0;
    return tags;
  }
}
