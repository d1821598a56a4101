import { fillTemplate } from '../../http/pages/browser-text.ts';
import { escapeHtml } from '../../shared/escape-html.ts';
import type { WatchedChannel } from '../channel/watched-channels.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { ViewerRequest } from '../responses/exchange.ts';
import { titleOf } from './vod-page.ts';
import type { WatchedRecording } from './watch-source.ts';
import { clockText, textToHtml } from './watch-text.ts';

/** Options in the query with which pages of others ask for the player without the page around it. */
const playerOptions: ReadonlySet<string> = new Set(['embed', 'api', 'sdkplayerid', 'chromeless']);

/** True for pages that a browser opens by themselves, false for those in a frame. Browsers tell it to HTTPS and localhost only. */
export function isWatchPage({ headers }: ViewerRequest, query: URLSearchParams): boolean {
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined && destination !== 'document') return false;
  return ![...query.keys()].some(name => playerOptions.has(name.replaceAll('-', '').toLowerCase()));
}

interface WatchPageValues {
  readonly kind: 'live' | 'video';
  readonly id: string;
  /** Unescaped, as all texts. */
  readonly title: string;
  /** HTML for the head. */
  readonly meta: string;
  readonly description: string;
  readonly publishedAtMs: number | undefined;
  readonly isLive: boolean;
  /** Display size in pixels. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
  /** True when there are chapters or a transcript beside the player. */
  readonly hasTexts: boolean;
  readonly recording: WatchedRecording | undefined;
  /** Planned start of a live stream that is offline. */
  readonly startsAtMs: number | undefined;
  readonly channel: WatchedChannel | undefined;
  /** Undefined where they are not shown. */
  readonly viewers: number | undefined;
  /** Undefined for public ones. */
  readonly access: PrivateAccess | undefined;
  /** The file that browsers without scripts play. */
  readonly mp4: string | undefined;
  readonly poster: string | undefined;
  /** Query of the page. */
  readonly query: URLSearchParams;
  /** JSON as of `/vod/{videoId}/state` or `/live/{liveStreamId}/player.json`. */
  readonly state: string;
  readonly basePath: string;
}

export function renderWatchPage(template: string, values: WatchPageValues): string {
  const { title, kind } = values;
  return fillTemplate(template, {
    kind,
    id: values.id,
    title: escapeHtml(title),
    meta: values.meta,
    state: escapeHtml(values.state),
    player: escapeHtml(playerAddress(values)),
    width: String(values.size?.width ?? 16),
    height: String(values.size?.height ?? 9),
    shareable: String(values.access === undefined),
    layout: values.hasTexts || hasNext(values) ? ' has-side' : '',
    channel: channelOf(values),
    byline: bylineOf(values),
    announcement: announcementOf(values),
    recording: recordingOf(values),
    description: descriptionOf(values),
    next: nextOf(values),
    plain: plainPlayer(values),
  });
}

/** Address for the player, with the options of this page. A private one has the session, so that it needs no cookie. */
function playerAddress({ basePath, kind, id, query, access }: WatchPageValues): string {
  const own = new URLSearchParams(query);
  own.delete('token');
  own.delete('avh');
  if (access !== undefined) own.set('token', access.token);
  if (access?.avh !== undefined) own.set('avh', access.avh);
  const path = `${basePath}/${kind === 'live' ? 'live' : 'vod'}/${id}`;
  return own.size === 0 ? path : `${path}?${own}`;
}

function plainPlayer({ mp4, poster, basePath }: WatchPageValues): string {
  const image = poster === undefined ? '' : escapeHtml(basePath + poster);
  if (mp4 !== undefined)
    return `<video controls preload="none" poster="${image}" src="${escapeHtml(basePath + mp4)}"></video>`;
  return image === '' ? '' : `<img src="${image}" alt="">`;
}

const dateFormat = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
const startFormat = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });

/** The script of the page writes dates in the language of the viewer. */
function dateHtml(atMs: number): string {
  const at = new Date(atMs);
  return `<time datetime="${at.toISOString()}">${dateFormat.format(at)}</time>`;
}

function bylineOf({ kind, isLive, publishedAtMs }: WatchPageValues): string {
  if (kind === 'live') {
    return `<span id="badge" class="badge" data-text="live"${isLive ? '' : ' hidden'}>Live</span> <span id="viewers"></span>`;
  }
  return publishedAtMs === undefined ? '' : dateHtml(publishedAtMs);
}

/** The script of the page writes it for the time zone of the viewer, and counts down. */
function announcementOf({ startsAtMs, id, access, basePath }: WatchPageValues): string {
  if (startsAtMs === undefined) return '';
  const at = new Date(startsAtMs);
  const calendar =
    access === undefined
      ? `<a href="${basePath}/live/${id}/start.ics" data-text="addToCalendar">Add to calendar</a>`
      : '';
  return `<div id="announcement" class="notice"><p>Starts on <time datetime="${at.toISOString()}">${startFormat.format(at)} UTC</time></p>${calendar}</div>`;
}

function recordingOf({ recording, isLive, basePath }: WatchPageValues): string {
  if (recording === undefined || isLive) return '';
  return `<p id="recording" class="notice"><span data-text="streamRecorded">The last stream was recorded.</span> <a href="${basePath}/vod/${recording.videoId}" data-text="watchRecording">Watch the recording</a></p>`;
}

function descriptionOf({ description, kind }: WatchPageValues): string {
  const text = description.trim();
  if (text === '') return '';
  return `<div id="description" class="description" dir="auto">${textToHtml(text, kind === 'video')}</div>`;
}

function hasNext({ channel }: WatchPageValues): boolean {
  return channel !== undefined && channel.next.length > 0;
}

function channelOf({ channel: watched, basePath }: WatchPageValues): string {
  if (watched?.isListed !== true) return '';
  const { slug, name } = watched.channel;
  return `<a class="channel" href="${basePath}/channel/${slug}" dir="auto">${escapeHtml(name)}</a>`;
}

/** Nothing follows a live stream: its page offers videos of the channel. */
function nextOf({ channel, basePath, kind }: WatchPageValues): string {
  if (channel === undefined || channel.next.length === 0) return '';
  const items = channel.next.map(video => {
    const { videoId, publishedAtMs, durationSeconds } = video;
    const address = `${basePath}/vod/${videoId}`;
    const duration =
      durationSeconds === undefined ? '' : `<span class="duration">${clockText(durationSeconds)}</span>`;
    return `<li><a class="card" href="${address}"><span class="card-image"><img src="${address}/thumbnail.jpg" alt="" loading="lazy">${duration}</span><span class="card-text"><span class="card-title" dir="auto">${escapeHtml(titleOf(video))}</span>${dateHtml(publishedAtMs)}</span></a></li>`;
  });
  const [name, title] = kind === 'live' ? ['moreVideos', 'More videos'] : ['upNext', 'Up next'];
  return `<section aria-labelledby="next-title"><h2 id="next-title" data-text="${name}">${title}</h2><ol class="next">${items.join('')}</ol></section>`;
}
