import { fillTemplate } from '../../http/pages/browser-text.ts';
import type { PageTexts } from '../../http/pages/page-texts.ts';
import { escapeHtml } from '../../shared/escape-html.ts';
import { basePathOf } from '../../shared/network/base-path.ts';
import { noIndexMeta, streamTitle } from '../pages/player-page.ts';
import { titleOf } from '../pages/vod-page.ts';
import { clockText, isoDuration, jsonForScript, summaryOf } from '../pages/watch-text.ts';
import type { AnnouncedStream, Channel, ChannelVideo, ListPosition } from './channel-source.ts';

/** A live stream that is live. */
export interface LiveNow {
  readonly liveStreamId: string;
  readonly name: string;
  /** Undefined where the owner does not show it. */
  readonly viewers: number | undefined;
}

interface ChannelPageValues {
  readonly channel: Channel;
  /** The part of the address below the base path: `/`, or that of the channel. */
  readonly path: string;
  readonly live: readonly LiveNow[];
  readonly announced: readonly AnnouncedStream[];
  /** Address of the script that writes their times. */
  readonly script: string;
  readonly videos: readonly ChannelVideo[];
  /** Address of the list's next part; undefined at its end. */
  readonly older: ListPosition | undefined;
  readonly isFirstPart: boolean;
  readonly search: string | undefined;
  /** Public URL without a slash at its end. */
  readonly base: string;
  readonly texts: PageTexts;
}

export const maxSearchChars = 200;

export function renderChannelPage(template: string, values: ChannelPageValues): string {
  const { channel, texts, base, search } = values;
  const { t, language, direction } = texts;
  const name = escapeHtml(channel.name);
  const translated = template.replace('lang="en"', `lang="${language}" dir="${direction}"`);
  return fillTemplate(translated, {
    title: name,
    name,
    head: headOf(values),
    logo: logoOf(values),
    description:
      channel.description.trim() === ''
        ? ''
        : `<p class="description" dir="auto">${escapeHtml(channel.description.trim())}</p>`,
    live: search === undefined && values.isFirstPart ? liveOf(values) : '',
    announced: announcedOf(values),
    heading: t(search === undefined ? 'pages.channel.videos' : 'pages.channel.results'),
    search: searchOf(values),
    videos: videosOf(values),
    pages: pagesOf(values),
    feed: `${basePathOf(base)}${feedPath(channel)}`,
    feedText: t('pages.channel.feed'),
  });
}

export function channelPath({ slug }: Channel): string {
  return `/channel/${slug}`;
}

export function feedPath(channel: Channel): string {
  return `${channelPath(channel)}/feed.xml`;
}

export function logoPath(channel: Channel): string {
  return `${channelPath(channel)}/logo?v=${channel.updatedAtMs}`;
}

/** **Sources**: The Open Graph protocol, https://ogp.me; https://schema.org/CollectionPage */
function headOf({ channel, path, live, videos, base, search, isFirstPart }: ChannelPageValues): string {
  const { name, description, accentColor } = channel;
  const page = base + path;
  const [stream] = live;
  const [video] = videos;
  const image =
    stream !== undefined
      ? `/${stream.liveStreamId}/thumbnail.jpg`
      : video !== undefined
        ? `/vod/${video.videoId}/thumbnail.jpg`
        : channel.hasLogo
          ? logoPath(channel)
          : undefined;
  const summary = summaryOf(description);
  const properties: [string, string][] = [
    ['og:type', 'website'],
    ['og:site_name', name],
    ['og:title', name],
    ...(summary === '' ? [] : [['og:description', summary] as [string, string]]),
    ['og:url', page],
    ...(image === undefined ? [] : [['og:image', base + image] as [string, string]]),
  ];
  const data = {
    '@context': 'https://schema.org',
    '@type': 'CollectionPage',
    name,
    description: description || undefined,
    url: page,
    image: image === undefined ? undefined : base + image,
    mainEntity: { '@type': 'ItemList', itemListElement: videos.map((one, at) => itemOf(one, at, base)) },
  };
  return [
    accentColor === undefined
      ? ''
      : `<link rel="stylesheet" href="${basePathOf(base)}/channel/colors/${accentColor.slice(1)}.css">\n<meta name="theme-color" content="${accentColor}">`,
    `<link rel="alternate" type="application/rss+xml" href="${escapeHtml(base + feedPath(channel))}" title="${escapeHtml(name)}">`,
    // Parts of the list move with each new video.
    ...(search === undefined && isFirstPart
      ? [`<link rel="canonical" href="${escapeHtml(page)}">`]
      : [noIndexMeta]),
    ...(summary === '' ? [] : [`<meta name="description" content="${escapeHtml(summary)}">`]),
    ...properties.map(([key, value]) => `<meta property="${key}" content="${escapeHtml(value)}">`),
    `<meta name="twitter:card" content="${image === undefined ? 'summary' : 'summary_large_image'}">`,
    `<script type="application/ld+json">${jsonForScript(data)}</script>`,
  ].join('\n');
}

function itemOf(video: ChannelVideo, at: number, base: string): object {
  const { videoId, description, publishedAtMs, durationSeconds } = video;
  return {
    '@type': 'ListItem',
    position: at + 1,
    item: {
      '@type': 'VideoObject',
      name: titleOf(video),
      description: summaryOf(description) || titleOf(video),
      url: `${base}/vod/${videoId}`,
      thumbnailUrl: `${base}/vod/${videoId}/thumbnail.jpg`,
      uploadDate: new Date(publishedAtMs).toISOString(),
      duration: durationSeconds === undefined ? undefined : isoDuration(durationSeconds),
    },
  };
}

function logoOf({ channel, base }: ChannelPageValues): string {
  if (channel.hasLogo) return `<img class="logo" src="${basePathOf(base)}${logoPath(channel)}" alt="">`;
  const [initial = ''] = channel.name.trim();
  return `<div class="logo initial" aria-hidden="true">${escapeHtml(initial.toUpperCase())}</div>`;
}

function liveOf(values: ChannelPageValues): string {
  const [first, ...others] = values.live;
  if (first === undefined) return '';
  const { t } = values.texts;
  const more =
    others.length === 0
      ? ''
      : `<h2 class="more-live">${t('pages.channel.alsoLive')}</h2><ul class="grid">${others.map(stream => streamCard(stream, values)).join('')}</ul>`;
  return `<section aria-label="${t('pages.channel.live')}">${heroOf(first, values)}${more}</section>`;
}

function heroOf({ liveStreamId, name, viewers }: LiveNow, { texts, base }: ChannelPageValues): string {
  const { t } = texts;
  const root = basePathOf(base);
  return `<a class="hero" href="${root}/live/${liveStreamId}"><span class="image"><img src="${root}/${liveStreamId}/thumbnail.jpg" alt=""></span><span class="hero-text"><span class="status"><span class="badge">${t('pages.channel.live')}</span>${viewersText(viewers, texts)}</span><span class="hero-title" dir="auto">${escapeHtml(streamTitle(name))}</span><span class="button">${t('pages.channel.watchLive')}</span></span></a>`;
}

function streamCard({ liveStreamId, name, viewers }: LiveNow, { texts, base }: ChannelPageValues): string {
  const root = basePathOf(base);
  return `<li><a class="card" href="${root}/live/${liveStreamId}"><span class="image"><img src="${root}/${liveStreamId}/thumbnail.jpg" alt="" loading="lazy"><span class="badge">${texts.t('pages.channel.live')}</span></span><span><span class="card-title" dir="auto">${escapeHtml(streamTitle(name))}</span><span class="card-meta">${viewersText(viewers, texts)}</span></span></a></li>`;
}

/** The script writes the times in the time zone of the viewer. */
function announcedOf({ announced, script, base, texts }: ChannelPageValues): string {
  if (announced.length === 0) return '';
  const { t, locale } = texts;
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });
  const cards = announced.map(stream => announcedCard(stream, basePathOf(base), times, t));
  return `<section aria-labelledby="announced-title"><h2 id="announced-title">${t('pages.channel.upcoming')}</h2><ul class="grid">${cards.join('')}</ul><script type="module" src="${script}"></script></section>`;
}

function announcedCard(
  { liveStreamId, name, startsAtMs }: AnnouncedStream,
  root: string,
  times: Intl.DateTimeFormat,
  t: PageTexts['t'],
): string {
  const at = new Date(startsAtMs);
  return `<li><a class="card" href="${root}/live/${liveStreamId}"><span class="image"><img src="${root}/${liveStreamId}/thumbnail.jpg" alt="" loading="lazy"></span><span><span class="card-title" dir="auto">${escapeHtml(streamTitle(name))}</span><time class="card-start" datetime="${at.toISOString()}" data-local>${times.format(at)} UTC</time></span></a><a class="card-calendar" href="${root}/live/${liveStreamId}/start.ics" aria-label="${t('pages.channel.calendar')}, ${escapeHtml(streamTitle(name))}">${t('pages.channel.calendar')}</a></li>`;
}

function viewersText(viewers: number | undefined, { t, locale }: PageTexts): string {
  if (viewers === undefined || viewers === 0) return '';
  return `<span>${t('pages.channel.watching')} ${new Intl.NumberFormat(locale).format(viewers)}</span>`;
}

function searchOf({ path, search = '', base, texts: { t } }: ChannelPageValues): string {
  const label = t('pages.channel.search');
  return `<form class="search" role="search" action="${basePathOf(base)}${path}"><input type="search" name="q" value="${escapeHtml(search)}" aria-label="${label}" placeholder="${label}" maxlength="${maxSearchChars}"><button class="button is-quiet">${t('pages.channel.find')}</button></form>`;
}

function videosOf({ videos, search, isFirstPart, base, texts }: ChannelPageValues): string {
  const { t, locale } = texts;
  if (videos.length === 0) {
    const text =
      search !== undefined
        ? 'pages.channel.noResults'
        : isFirstPart
          ? 'pages.channel.empty'
          : 'pages.channel.noMore';
    return `<p class="empty">${t(text)}</p>`;
  }
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return `<ul class="grid">${videos.map(video => videoCard(video, basePathOf(base), dates)).join('')}</ul>`;
}

function videoCard(video: ChannelVideo, root: string, dates: Intl.DateTimeFormat): string {
  const { videoId, publishedAtMs, durationSeconds } = video;
  const address = `${root}/vod/${videoId}`;
  const at = new Date(publishedAtMs);
  const duration =
    durationSeconds === undefined ? '' : `<span class="duration">${clockText(durationSeconds)}</span>`;
  return `<li><a class="card" href="${address}"><span class="image"><img src="${address}/thumbnail.jpg" alt="" loading="lazy">${duration}</span><span><span class="card-title" dir="auto">${escapeHtml(titleOf(video))}</span><time class="card-meta" datetime="${at.toISOString()}">${dates.format(at)}</time></span></a></li>`;
}

function pagesOf({ path, older, isFirstPart, search, base, texts: { t } }: ChannelPageValues): string {
  const address = basePathOf(base) + path;
  const query: Record<string, string> = search === undefined ? {} : { q: search };
  const link = (parameters: Record<string, string>, text: string, rel = '') => {
    const all = new URLSearchParams({ ...query, ...parameters });
    const href = all.size === 0 ? address : `${address}?${all}`;
    return `<a class="button is-quiet" href="${escapeHtml(href)}"${rel}>${text}</a>`;
  };
  const links = [
    ...(isFirstPart ? [] : [link({}, t('pages.channel.newest'))]),
    ...(older === undefined
      ? []
      : [
          link({ after: `${older.publishedAtMs}.${older.videoId}` }, t('pages.channel.older'), ' rel="next"'),
        ]),
    ...(search === undefined
      ? []
      : [`<a class="button is-quiet" href="${address}">${t('pages.channel.all')}</a>`]),
  ];
  return links.length === 0 ? '' : `<nav class="pages">${links.join('')}</nav>`;
}
