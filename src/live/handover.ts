import { describeAudioTag, describeVideoTag } from './flv-tag.ts';
import type { LiveTag } from './ports.ts';

/** Sound alone is taken for all that comes after this. */
const soundAloneMs = 1000;
/** Pictures without a keyframe are not waited for any longer. */
const longestWaitMs = 3000;

/** Holds a publisher that came back off until its media can be shown, so that what stands in for it goes on until then. */
export class Handover {
  /** What has to come before its media, the newest of each. */
  readonly #kept = new Map<string, LiveTag>();
  #hasVideo = false;
  #firstMediaMs: number | undefined;

  /**
   * Takes the publisher's next tag.
   *
   * @param nowMs monotonic
   * @returns all that is to be passed on, when its media begins; undefined while it waits
   */
  take(tag: LiveTag, nowMs: number): LiveTag[] | undefined {
    if (tag.kind === 'script') {
      this.#kept.set('script', tag);
      if (tag.body.includes('videocodecid')) this.#hasVideo = true;
      return undefined;
    }
    const role = (tag.kind === 'video' ? describeVideoTag(tag.body) : describeAudioTag(tag.body))?.role;
    if (tag.kind === 'video') this.#hasVideo = true;
    if (role === 'config') {
      this.#kept.set(tag.kind, tag);
      return undefined;
    }
    if (role === undefined || role === 'other') return undefined;
    this.#firstMediaMs ??= nowMs;
    const waitedMs = nowMs - this.#firstMediaMs;
    const isDue =
      role === 'keyframe' || waitedMs >= longestWaitMs || (!this.#hasVideo && waitedMs >= soundAloneMs);
    return isDue ? this.flush(tag) : undefined;
  }

  /** All that waits, and `tag`: nothing stands in any more. */
  flush(tag: LiveTag): LiveTag[] {
    const tags = [...this.#kept.values(), tag];
    this.#kept.clear();
    return tags;
  }
}
