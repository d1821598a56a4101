import type { BroadcastInfo, BroadcastSubscriber } from '../broadcast/broadcast-subscriber.ts';
import { RtpFeed } from './rtp-feed.ts';

/** The broadcasts that this server delivers over WebRTC. */
export class RtpFeeds {
  readonly #feeds = new Map<string, RtpFeed>();

  find(liveStreamId: string): RtpFeed | undefined {
    return this.#feeds.get(liveStreamId);
  }

  /** Nothing where the live stream has it turned off. The sandbox has a watermark, which the publisher's video lacks. */
  follow(broadcast: BroadcastInfo): BroadcastSubscriber[] {
    const { liveStreamId, startedAtMs, environment } = broadcast;
    if (broadcast.ultraLowLatency !== true || environment === 'sandbox') return [];
    const feed: RtpFeed = new RtpFeed(startedAtMs, () => {
      if (this.#feeds.get(liveStreamId) === feed) this.#feeds.delete(liveStreamId);
    });
    this.#feeds.set(liveStreamId, feed);
    return [feed];
  }
}
