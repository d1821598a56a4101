import type { FlvTag } from '../../media/flv/flv-tag.ts';
import { describeAudioTag, describeVideoTag } from '../../media/flv/flv-tag.ts';

/** Sound alone is taken for all that comes after this. */
const audioOnlyAfterMs = 1000;
/** Pictures without a keyframe are not waited for any longer. */
const maxWaitMs = 3000;

/** Holds a publisher that came back off until its media can be shown, so that what stands in for it goes on until then. */
export class ReconnectBuffer {
  /** What has to come before its media, the newest of each. */
  readonly #pending = new Map<string, FlvTag>();
  #hasVideo = false;
  #firstMediaAtMs: number | undefined;

  /**
   * Takes the publisher's next tag.
   *
   * @param nowMs monotonic
   * @returns all that is to be passed on, when its media begins; undefined while it waits
   */
  push(tag: FlvTag, nowMs: number): FlvTag[] | undefined {
    if (tag.kind === 'script') {
      this.#pending.set('script', tag);
      if (tag.body.includes('videocodecid')) this.#hasVideo = true;
      return undefined;
    }
    const role = (tag.kind === 'video' ? describeVideoTag(tag.body) : describeAudioTag(tag.body))?.role;
    if (tag.kind === 'video') this.#hasVideo = true;
    if (role === 'config') {
      this.#pending.set(tag.kind, tag);
      return undefined;
    }
    if (role === undefined || role === 'other') return undefined;
    this.#firstMediaAtMs ??= nowMs;
    const waitedMs = nowMs - this.#firstMediaAtMs;
    const isDue =
      role === 'keyframe' || waitedMs >= maxWaitMs || (!this.#hasVideo && waitedMs >= audioOnlyAfterMs);
    return isDue ? this.flush(tag) : undefined;
  }

  /** All that waits, and `tag`: nothing stands in any more. */
  flush(tag: FlvTag): FlvTag[] {
    const tags = [...this.#pending.values(), tag];
    this.#pending.clear();
    return tags;
  }
}
