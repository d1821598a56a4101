import { escapeHtml } from '../../shared/escape-html.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import { noIndexMeta, streamTitle } from './player-page.ts';
import { titleOf, type VodPageState } from './vod-page.ts';
import { isoDuration, jsonForScript, summaryOf } from './watch-text.ts';

export interface ShareablePage {
  readonly title: string;
  readonly path: string;
  readonly imagePath: string;
  /** Display size in pixels. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
  /** Undefined for live streams, and while it is unknown. */
  readonly durationSeconds?: number | undefined;
  readonly mp4Path?: string | undefined;
  readonly description?: string | undefined;
  /** Downloaders such as yt-dlp read it where there is no MP4. */
  readonly playlistPath?: string | undefined;
}

const defaultSize = { width: 1280, height: 720 };
const defaultEmbedWidth = 640;

export function shareableVideo(state: VodPageState): ShareablePage {
  const { videoId, width, height, duration, mp4, poster } = state;
  return {
    title: titleOf(state),
    path: `/vod/${videoId}`,
    imagePath: poster,
    size: width && height ? { width, height } : undefined,
    durationSeconds: duration ?? undefined,
    mp4Path: mp4 ?? undefined,
  };
}

export function shareableStream(
  liveStreamId: string,
  name: string,
  size: ShareablePage['size'],
): ShareablePage {
  return {
    title: streamTitle(name),
    path: `/live/${liveStreamId}`,
    imagePath: `/${liveStreamId}/thumbnail.jpg`,
    playlistPath: `/${liveStreamId}.m3u8`,
    size,
  };
}

interface PageReach {
  readonly access: PrivateAccess | undefined;
  readonly isForSearch: boolean;
}

/**
 * Describes a page to sites that show a link to it, unless it is private, and to search engines if they may list it.
 * @param base without a slash at its end; empty while it is unknown
 * @param details tells search engines more
 */
export function pageMeta(
  shared: ShareablePage,
  base: string,
  { access, isForSearch }: PageReach,
  details?: SearchDetails,
): string {
  if (access !== undefined || base === '') return noIndexMeta;
  const card = socialMeta(shared, base);
  if (!isForSearch) return `${noIndexMeta}\n${card}`;
  return details === undefined ? card : `${card}\n${structuredData(shared, base, details)}`;
}

/** **Source**: The Open Graph protocol, https://ogp.me. @param base without a slash at its end */
export function socialMeta(shared: ShareablePage, base: string): string {
  const { title, description = '', durationSeconds, mp4Path, playlistPath, size = defaultSize } = shared;
  const page = base + shared.path;
  const image = base + shared.imagePath;
  const [width, height] = [String(size.width), String(size.height)];
  const video = (address: string, type: string): [string, string][] => [
    ['og:video', address],
    ...(address.startsWith('https:') ? [['og:video:secure_url', address] as [string, string]] : []),
    ['og:video:type', type],
    ['og:video:width', width],
    ['og:video:height', height],
  ];
  const properties: [string, string][] = [
    ['og:type', 'video.other'],
    ['og:title', title],
    ...described('og:description', description),
    ['og:url', page],
    ['og:image', image],
    ...(durationSeconds === undefined
      ? []
      : [['video:duration', String(Math.ceil(durationSeconds))] as [string, string]]),
    ...video(page, 'text/html'),
    ...(mp4Path === undefined ? [] : video(base + mp4Path, 'video/mp4')),
    ...(playlistPath === undefined ? [] : video(base + playlistPath, 'application/vnd.apple.mpegurl')),
  ];
  const cards: [string, string][] = [
    ['twitter:card', 'player'],
    ['twitter:title', title],
    ...described('twitter:description', description),
    ['twitter:image', image],
    ['twitter:player', page],
    ['twitter:player:width', width],
    ['twitter:player:height', height],
  ];
  return [
    `<link rel="canonical" href="${escapeHtml(page)}">`,
    `<link rel="alternate" type="application/json+oembed" href="${escapeHtml(`${page}/oembed.json`)}" title="${escapeHtml(title)}">`,
    ...properties.map(([name, value]) => `<meta property="${name}" content="${escapeHtml(value)}">`),
    ...cards.map(([name, value]) => `<meta name="${name}" content="${escapeHtml(value)}">`),
  ].join('\n');
}

function described(name: string, description: string): [string, string][] {
  return description === '' ? [] : [[name, summaryOf(description)]];
}

interface SearchDetails {
  readonly publishedAtMs?: number | undefined;
  readonly isLive?: boolean;
}

/**
 * Describes the page to search engines.
 * **Source**: https://schema.org/VideoObject
 */
function structuredData(
  { title, path, imagePath, size, durationSeconds, mp4Path, description }: ShareablePage,
  base: string,
  { publishedAtMs, isLive }: SearchDetails,
): string {
  const data = {
    '@context': 'https://schema.org',
    '@type': 'VideoObject',
    name: title,
    description: description || title,
    thumbnailUrl: [base + imagePath],
    url: base + path,
    embedUrl: `${base}${path}?embed`,
    uploadDate: publishedAtMs === undefined ? undefined : new Date(publishedAtMs).toISOString(),
    duration: durationSeconds === undefined ? undefined : isoDuration(durationSeconds),
    contentUrl: mp4Path === undefined ? undefined : base + mp4Path,
    width: size?.width,
    height: size?.height,
    publication: isLive ? { '@type': 'BroadcastEvent', isLiveBroadcast: true } : undefined,
  };
  const meta =
    description === undefined || description === ''
      ? ''
      : `<meta name="description" content="${escapeHtml(summaryOf(description))}">\n`;
  return `${meta}<script type="application/ld+json">${jsonForScript(data)}</script>`;
}

/**
 * **Source**: oEmbed, https://oembed.com, 2.3.4.2 "The video type"
 * @param query `maxwidth` and `maxheight` are the room on the other site, in pixels
 */
export function describeEmbed(
  { title, path, size = defaultSize }: Pick<ShareablePage, 'title' | 'path' | 'size'>,
  base: string,
  query: URLSearchParams,
): Readonly<Record<string, string | number>> {
  const room = (name: string) => {
    const pixels = Number(query.get(name));
    return pixels > 0 ? pixels : Number.POSITIVE_INFINITY;
  };
  const scale = Math.min(
    defaultEmbedWidth / size.width,
    room('maxwidth') / size.width,
    room('maxheight') / size.height,
  );
  const width = Math.max(1, Math.floor(size.width * scale));
  const height = Math.max(1, Math.floor(size.height * scale));
  return {
    version: '1.0',
    type: 'video',
    title,
    provider_name: 'Millrace',
    provider_url: base,
    width,
    height,
    html: `<iframe src="${escapeHtml(base + path)}" width="${width}" height="${height}" frameborder="0" scrolling="no" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
  };
}
