import { LRUCache } from 'lru-cache';
import { pageTextsFor } from '../../http/pages/page-texts.ts';
import type { Clock } from '../../shared/clock.ts';
import { RecentLookups } from '../../shared/recent-lookups.ts';
import { type CompressedText, RenderedText } from '../../shared/text/rendered-text.ts';
import type { LiveSource } from '../live/live-source.ts';
import { sendChannelPage, sendMissingPage } from '../pages/page-sender.ts';
import type { PlayerFiles } from '../pages/player-files.ts';
import type { Exchange } from '../responses/exchange.ts';
import type { PendingResponses } from '../responses/pending-responses.ts';
import type { ResponseSender } from '../responses/response-sender.ts';
import type { VodSource } from '../vod/vod-source.ts';
import { accentStyles } from './accent-colors.ts';
import { type FeedVideo, renderChannelFeed } from './channel-feed.ts';
import { channelPath, type LiveNow, maxSearchChars, renderChannelPage } from './channel-page.ts';
import type {
  AnnouncedStream,
  Channel,
  ChannelRequest,
  ChannelSource,
  ChannelVideo,
  ListPosition,
} from './channel-source.ts';

interface ChannelDeliveryOptions {
  readonly channels: ChannelSource;
  /** Project whose channel is at `/`, as users see it. */
  readonly frontPage: string | undefined;
  readonly live: LiveSource;
  /** Viewers of a live stream, on all servers. */
  readonly viewersOf: (liveStreamId: string) => Promise<number>;
  readonly vod: VodSource;
  readonly clock: Clock;
  readonly publicUrl: () => string;
  readonly sender: ResponseSender;
  readonly pending: PendingResponses;
  readonly files: () => PlayerFiles;
}

/** Begins a channel: what is live, what will be, and the newest videos. */
interface FirstPart {
  readonly live: readonly LiveNow[];
  readonly announced: readonly AnnouncedStream[];
  readonly videos: readonly ChannelVideo[];
}

const videosPerPart = 24;
const videosInFeed = 50;
const maxFeeds = 100;
const feedTtlMs = 5_000;
const noCache = 'no-cache';

/** Sends the public pages of projects. */
export class ChannelDelivery {
  readonly #options: ChannelDeliveryOptions;
  readonly #channels: RecentLookups<Channel>;
  /** The front page, by the project as users see it. */
  readonly #frontPages: RecentLookups<Channel>;
  readonly #firstParts: RecentLookups<FirstPart>;
  /** The last feeds by project, and when its channel was changed: each item asks for its file. */
  readonly #feeds: LRUCache<string, Promise<CompressedText>>;

  constructor(options: ChannelDeliveryOptions) {
    const { channels, clock } = options;
    this.#options = options;
    this.#channels = new RecentLookups(slug => channels.findBySlug(slug), clock);
    this.#frontPages = new RecentLookups(pairId => channels.findByPair(pairId), clock);
    this.#firstParts = new RecentLookups(slug => this.#readFirstPart(slug), clock);
    this.#feeds = new LRUCache({
      max: maxFeeds,
      ttl: feedTtlMs,
      perf: { now: () => clock.monotonicMs() },
    });
  }

  get hasFrontPage(): boolean {
    return this.#options.frontPage !== undefined;
  }

  sendPage(exchange: Exchange, slug: string, query: string): void {
    if (slug === '') {
      this.#sendMissing(exchange);
      return;
    }
    this.#options.pending.hold(exchange, this.#page(exchange, slug, query), html => {
      if (html === undefined) this.#sendMissing(exchange);
      else sendChannelPage(this.#options.sender, exchange, html, this.#hasOtherServers);
    });
  }

  /** Leads to the dashboard while the project has no channel. */
  sendFrontPage(exchange: Exchange, query: string, elsewhere: string): void {
    const { frontPage = '', pending, sender } = this.#options;
    const page = this.#frontPages
      .find(frontPage)
      .then(channel => channel && this.#page(exchange, channel.slug, query));
    pending.hold(exchange, page, html => {
      if (html === undefined)
        sender.sendEmpty(exchange, 302, ['Location', elsewhere, 'Vary', 'Accept', 'Cache-Control', noCache]);
      else sendChannelPage(sender, exchange, html, this.#hasOtherServers);
    });
  }

  sendFeed(exchange: Exchange, slug: string): void {
    const { pending, sender } = this.#options;
    pending.hold(exchange, this.#findFeed(slug), text => {
      if (text === undefined) sender.sendNotFound(exchange, noCache);
      else sender.sendText(exchange, text, 'application/rss+xml; charset=utf-8', noCache);
    });
  }

  sendLogo(exchange: Exchange, slug: string): void {
    const { pending, sender, channels } = this.#options;
    pending.hold(exchange, channels.logo(slug), logo => {
      if (logo === undefined) sender.sendNotFound(exchange, noCache);
      else sender.sendDocument(exchange, 200, logo.body, logo.contentType, ['Cache-Control', 'max-age=3600']);
    });
  }

  sendAccent(exchange: Exchange, color: string): void {
    const styles = new RenderedText(accentStyles(`#${color}`));
    this.#options.sender.sendText(exchange, styles, 'text/css; charset=utf-8', 'max-age=86400');
  }

  get #hasOtherServers(): boolean {
    return this.#options.live.mediaUrl !== undefined;
  }

  #sendMissing(exchange: Exchange): void {
    sendMissingPage(this.#options.sender, exchange, this.#options.files().channelNotFound);
  }

  async #page(exchange: Exchange, slug: string, query: string): Promise<string | undefined> {
    const channel = await this.#channels.find(slug);
    if (channel === undefined) return undefined;
    exchange.trafficOwner = { projectId: channel.projectId, deliveryKind: 'vod' };
    const parameters = new URLSearchParams(query);
    const after = positionFrom(parameters.get('after'));
    const search = searchFrom(parameters.get('q'));
    const isFirst = after === undefined && search === undefined;
    const { live, announced, videos } =
      (isFirst ? await this.#firstPart(slug) : undefined) ??
      (await this.#readPart(channel, { after, search, limit: videosPerPart + 1 }));
    const shown = videos.slice(0, videosPerPart);
    const { files, publicUrl } = this.#options;
    return renderChannelPage(files().channelPage, {
      channel,
      path: this.#isFrontPage(channel) ? '/' : channelPath(channel),
      live,
      announced,
      script: files().channelScript,
      videos: shown,
      older: videos.length > videosPerPart ? shown.at(-1) : undefined,
      isFirstPart: after === undefined,
      search,
      base: publicUrl(),
      texts: pageTextsFor(exchange.request.headers['accept-language'] as string | undefined),
    });
  }

  async #firstPart(slug: string): Promise<FirstPart | undefined> {
    return this.#firstParts.recent(slug) ?? this.#firstParts.find(slug);
  }

  #isFrontPage({ pairId }: Channel): boolean {
    return pairId === this.#options.frontPage;
  }

  async #readFirstPart(slug: string): Promise<FirstPart | undefined> {
    const channel = await this.#channels.find(slug);
    if (channel === undefined) return undefined;
    const [live, announced, { videos }] = await Promise.all([
      this.#liveNow(channel),
      this.#options.channels.announcedStreams(channel),
      this.#readPart(channel, { limit: videosPerPart + 1 }),
    ]);
    const isOffline = ({ liveStreamId }: AnnouncedStream) => !this.#options.live.state(liveStreamId).live;
    return { live, announced: announced.filter(isOffline), videos };
  }

  async #readPart(channel: Channel, request: ChannelRequest): Promise<FirstPart> {
    return { live: [], announced: [], videos: await this.#options.channels.videos(channel, request) };
  }

  async #liveNow(channel: Channel): Promise<LiveNow[]> {
    const { channels, live, viewersOf } = this.#options;
    const streams = await channels.liveStreams(channel);
    return Promise.all(
      streams
        .filter(({ liveStreamId }) => live.state(liveStreamId).live)
        .map(async ({ liveStreamId, name, showViewers }) => ({
          liveStreamId,
          name,
          viewers: showViewers ? await viewersOf(liveStreamId) : undefined,
        })),
    );
  }

  async #findFeed(slug: string): Promise<CompressedText | undefined> {
    const channel = await this.#channels.find(slug);
    if (channel === undefined) return undefined;
    const key = `${channel.projectId} ${channel.updatedAtMs}`;
    let feed = this.#feeds.get(key);
    if (feed === undefined) {
      feed = this.#feed(channel);
      this.#feeds.set(key, feed);
      feed.catch(() => this.#feeds.delete(key));
    }
    return feed;
  }

  async #feed(channel: Channel): Promise<CompressedText> {
    const { channels, publicUrl } = this.#options;
    const videos = await channels.videos(channel, { limit: videosInFeed });
    const items: FeedVideo[] = [];
    for (const video of videos) items.push({ ...video, mp4Bytes: await this.#mp4Bytes(video) });
    const isFrontPage = this.#isFrontPage(channel);
    return new RenderedText(renderChannelFeed(channel, items, { base: publicUrl(), isFrontPage }));
  }

  async #mp4Bytes({ videoId }: ChannelVideo): Promise<number | undefined> {
    const { vod } = this.#options;
    const entry = await vod.find(videoId);
    if (entry?.mp4Support !== true) return undefined;
    return (await vod.file(videoId, 'mp4'))?.bytes;
  }
}

function positionFrom(text: string | null): ListPosition | undefined {
  const [, publishedAtMs, videoId] = /^(\d{1,15})\.(vi[0-9A-Za-z]{22})$/.exec(text ?? '') ?? [];
  return publishedAtMs === undefined || videoId === undefined
    ? undefined
    : { publishedAtMs: Number(publishedAtMs), videoId };
}

function searchFrom(text: string | null): string | undefined {
  const search = (text ?? '').replaceAll('\0', '').slice(0, maxSearchChars).toWellFormed().trim();
  return search === '' ? undefined : search;
}
