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
  readonly listed?: boolean | undefined;
  readonly isSandbox?: boolean | undefined;
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
    const { projectId, access, isSandbox = false } = media;
    if (access !== undefined || isSandbox) return undefined;
    const channel = await this.#channels.find(projectId);
    if (channel === undefined) return undefined;
    const isListed = media.listed === true && media.policies.length === 0;
    return { channel, isListed, next: isListed ? await this.#after(channel, media.position) : [] };
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

/**
 * Tells whether search engines may list a page: not private ones and those of the sandbox and, where the project has a channel, not
 * those that only people with the link know.
 */
export function isForSearch(media: WatchedMedia, watched: WatchedChannel | undefined): boolean {
  return media.access === undefined && media.isSandbox !== true && watched?.isListed !== false;
}
