import type { FlvTag } from '../../media/flv/flv-tag.ts';
import { describeAudioTag, describeVideoTag } from '../../media/flv/flv-tag.ts';

/** A publisher without video for this long has audio only. */
const audioOnlyAfterMs = 1000;
/** Video without a keyframe is passed on after this. */
const maxWaitMs = 3000;

/** Holds the tags of a reconnected publisher until its media can be shown. The slate continues until then. */
export class ReconnectBuffer {
  /** Newest metadata and decoder configurations, which precede the media. */
  readonly #pending = new Map<string, FlvTag>();
  #hasVideo = false;
  #firstMediaAtMs: number | undefined;

  /** @param nowMs monotonic @returns the tags to pass on once the media begins */
  push(tag: FlvTag, nowMs: number): FlvTag[] | undefined {
    if (tag.kind === 'script') {
      this.#pending.set('script', tag);
      if (tag.body.includes('videocodecid')) this.#hasVideo = true;
      return undefined;
    }
    const role = (tag.kind === 'video' ? describeVideoTag(tag.body) : describeAudioTag(tag.body))?.role;
    if (tag.kind === 'video') this.#hasVideo = true;
    if (role === 'config') {
      this.#pending.set(`${tag.kind} ${tag.trackId ?? 0}`, tag);
      return undefined;
    }
    if (role === undefined || role === 'other' || (tag.trackId ?? 0) !== 0) return undefined;
    this.#firstMediaAtMs ??= nowMs;
    const waitedMs = nowMs - this.#firstMediaAtMs;
    const isDue =
      role === 'keyframe' || waitedMs >= maxWaitMs || (!this.#hasVideo && waitedMs >= audioOnlyAfterMs);
    return isDue ? this.flush(tag) : undefined;
  }

  flush(tag: FlvTag): FlvTag[] {
    const tags = [...this.#pending.values(), tag];
    this.#pending.clear();
    return tags;
  }
}
