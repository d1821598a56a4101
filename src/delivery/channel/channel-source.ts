/** The public page of a project, which its owner has turned on. */
export interface Channel {
  readonly projectId: string;
  /** The project as users see it: a sandbox and a production. */
  readonly pairId: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /** A color like `#0a7a66`; undefined for that of the product. */
  readonly accentColor: string | undefined;
  readonly hasLogo: boolean;
  readonly updatedAtMs: number;
  /** The policy of the project restricts videos and live streams without their own. */
  readonly isRestricted: boolean;
}

export interface ChannelVideo {
  readonly videoId: string;
  readonly title: string;
  /** The first characters. */
  readonly description: string;
  readonly publishedAtMs: number;
  readonly durationSeconds: number | undefined;
}

interface ChannelStream {
  readonly liveStreamId: string;
  readonly name: string;
  readonly showViewers: boolean;
}

export interface AnnouncedStream {
  readonly liveStreamId: string;
  readonly name: string;
  readonly startsAtMs: number;
}

/** A place in the list of videos, from the newest to the oldest. */
export interface ListPosition {
  readonly publishedAtMs: number;
  readonly videoId: string;
}

export interface ChannelRequest {
  /** Lists what is older. */
  readonly after?: ListPosition | undefined;
  /** Words to find in titles. */
  readonly search?: string | undefined;
  readonly limit: number;
}

/** Channels that are on, with what everybody may watch of what their owners have listed. */
export interface ChannelSource {
  findBySlug(slug: string): Promise<Channel | undefined>;
  findByProject(projectId: string): Promise<Channel | undefined>;
  findByPair(pairId: string): Promise<Channel | undefined>;
  logo(slug: string): Promise<{ readonly body: Buffer; readonly contentType: string } | undefined>;
  /** The newest first. */
  videos(channel: Channel, request: ChannelRequest): Promise<readonly ChannelVideo[]>;
  /** Lists those whose broadcast has not ended. */
  liveStreams(channel: Channel): Promise<readonly ChannelStream[]>;
  /** Lists those that are offline and have a planned start, the next one first. */
  announcedStreams(channel: Channel): Promise<readonly AnnouncedStream[]>;
}
