import type { Clock } from '../../shared/clock.ts';
import { RecentLookups } from '../../shared/recent-lookups.ts';
import type { PlaybackAdmission } from '../playback-gate.ts';
import type { Channel, ChannelSource, ChannelVideo, ListPosition } from './channel-source.ts';

/** The channel of the project that a watched video or live stream belongs to. */
export interface WatchedChannel {
  readonly channel: Channel;
  /** Everybody sees what is watched in the channel. */
  readonly isListed: boolean;
  /** Other videos of the channel; none where it does not list what is watched. */
  readonly next: readonly ChannelVideo[];
}

export interface WatchedMedia extends Pick<PlaybackAdmission, 'access' | 'policies'> {
  readonly projectId: string;
  readonly listed: boolean;
  readonly isSandbox: boolean;
  /** Undefined for live streams. */
  readonly position?: ListPosition | undefined;
}

const maxNextVideos = 12;

/** Finds what watch pages show of channels. */
export class WatchedChannels {
  readonly #source: ChannelSource;
  readonly #channels: RecentLookups<Channel>;

  constructor({ channels, clock }: { readonly channels: ChannelSource; readonly clock: Clock }) {
    this.#source = channels;
    this.#channels = new RecentLookups(projectId => channels.findByProject(projectId), clock);
  }

  /** Undefined where the project has no channel, and for what the channel cannot have. */
  async find(media: WatchedMedia): Promise<WatchedChannel | undefined> {
    const channel = isForEverybody(media) ? await this.#channelOf(media) : undefined;
    if (channel === undefined) return undefined;
    const isListed = isIn(media);
    return { channel, isListed, next: isListed ? await this.#after(channel, media.position) : [] };
  }

  /**
   * Tells whether search engines may list a page: not private ones and those of the sandbox and, where the project has a channel, not
   * those that only people with the link know.
   */
  async isForSearch(media: WatchedMedia): Promise<boolean> {
    return isForEverybody(media) && (isIn(media) || (await this.#channelOf(media)) === undefined);
  }

  async #channelOf({ projectId }: WatchedMedia): Promise<Channel | undefined> {
    return this.#channels.recent(projectId) ?? this.#channels.find(projectId);
  }

  /** Lists the videos that were published before this one, then the newest. */
  async #after(channel: Channel, position: ListPosition | undefined): Promise<readonly ChannelVideo[]> {
    const limit = maxNextVideos;
    const older = await this.#source.videos(channel, { after: position, limit });
    if (position === undefined || older.length === limit) return older;
    const seen = new Set([position.videoId, ...older.map(({ videoId }) => videoId)]);
    const newest = await this.#source.videos(channel, { limit });
    return [...older, ...newest.filter(({ videoId }) => !seen.has(videoId))].slice(0, limit);
  }
}

function isForEverybody({ access, isSandbox }: WatchedMedia): boolean {
  return access === undefined && !isSandbox;
}

function isIn({ listed, policies }: WatchedMedia): boolean {
  return listed && policies.length === 0;
}
