import { escapeHtml } from '../../shared/escape-html.ts';
import { titleOf } from '../pages/vod-page.ts';
import { clockText } from '../pages/watch-text.ts';
import { channelPath, feedPath, logoPath } from './channel-page.ts';
import type { Channel, ChannelVideo } from './channel-source.ts';

export interface FeedVideo extends ChannelVideo {
  /** Bytes of the MP4 file; undefined where there is none. */
  readonly mp4Bytes: number | undefined;
}

/** Characters that XML cannot have, even as references. **Source**: XML 1.0, 2.2 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const invalid = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/**
 * **Sources**: RSS 2.0, https://www.rssboard.org/rss-specification; Media RSS, https://www.rssboard.org/media-rss
 * @param base public URL without a slash at its end
 */
export function renderChannelFeed(
  channel: Channel,
  videos: readonly FeedVideo[],
  { base, isFrontPage }: { readonly base: string; readonly isFrontPage: boolean },
): string {
  const page = base + (isFrontPage ? '/' : channelPath(channel));
  const feed = base + feedPath(channel);
  const logo = channel.hasLogo ? base + logoPath(channel) : undefined;
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
<channel>
<title>${xml(channel.name)}</title>
<link>${xml(page)}</link>
<description>${xml(channel.description).trim() || xml(channel.name)}</description>
<atom:link href="${xml(feed)}" rel="self" type="application/rss+xml"/>
<itunes:author>${xml(channel.name)}</itunes:author>
<itunes:explicit>false</itunes:explicit>
${logo === undefined ? '' : `<image><url>${xml(logo)}</url><title>${xml(channel.name)}</title><link>${xml(page)}</link></image>\n<itunes:image href="${xml(logo)}"/>\n`}${videos.map(video => itemOf(video, base)).join('\n')}
</channel>
</rss>
`;
}

function itemOf(video: FeedVideo, base: string): string {
  const { videoId, description, publishedAtMs, durationSeconds, mp4Bytes } = video;
  const page = `${base}/vod/${videoId}`;
  const mp4 = `${page}/mp4/source.mp4`;
  const duration = durationSeconds === undefined ? '' : ` duration="${Math.round(durationSeconds)}"`;
  return [
    '<item>',
    `<title>${xml(titleOf(video))}</title>`,
    `<link>${xml(page)}</link>`,
    `<guid isPermaLink="false">${xml(videoId)}</guid>`,
    `<pubDate>${new Date(publishedAtMs).toUTCString()}</pubDate>`,
    ...(description.trim() === '' ? [] : [`<description>${xml(description)}</description>`]),
    ...(mp4Bytes === undefined
      ? []
      : [
          `<enclosure url="${xml(mp4)}" length="${mp4Bytes}" type="video/mp4"/>`,
          `<media:content url="${xml(mp4)}" fileSize="${mp4Bytes}" type="video/mp4" medium="video"${duration}/>`,
        ]),
    `<media:player url="${xml(page)}"/>`,
    `<media:thumbnail url="${xml(`${page}/thumbnail.jpg`)}"/>`,
    ...(durationSeconds === undefined
      ? []
      : [`<itunes:duration>${clockText(durationSeconds)}</itunes:duration>`]),
    '</item>',
  ].join('\n');
}

function xml(text: string): string {
  return escapeHtml(text.toWellFormed().replace(invalid, ''));
}
