import { fillTemplate } from '../../http/pages/browser-text.ts';
import { escapeHtml } from '../../shared/escape-html.ts';
import { type PrivateAccess, sessionQuery } from '../private-sessions.ts';
import type { PlayerTheme } from './player-theme.ts';
import { playlistsToPreload } from './playlist-preloads.ts';

export const noIndexMeta = '<meta name="robots" content="noindex">';

/** The player of another page begins with it. URLs are paths of this server, without the base path. */
interface LivePlayerState {
  readonly liveStreamId: string;
  readonly title: string;
  readonly live: boolean;
  readonly broadcastId: string | null;
  readonly hls: string;
  /** `''`, or what requests for the state of a private live stream need, with its `?`. */
  readonly query: string;
  readonly poster: string;
  readonly hasThumbnail: boolean;
  readonly theme: PlayerTheme | null;
  readonly ultraLowLatency: boolean;
  readonly viewerClips: boolean;
  /** Tells that the state has the number of viewers while the stream is live. */
  readonly showViewers?: true;
  readonly viewers: number | undefined;
  /** Planned start while the stream is offline. */
  readonly startsAtMs: number | undefined;
  /** Sets the clock of the latency display. */
  readonly serverTimeMs: number;
}

interface PlayerValues {
  readonly liveStreamId: string;
  /** Unescaped. */
  readonly name: string;
  /** JSON as of `/live/{liveStreamId}/state`. */
  readonly state: string;
  readonly hasThumbnail: boolean;
  readonly access: PrivateAccess | undefined;
  readonly theme: PlayerTheme | undefined;
  readonly ultraLowLatency: boolean;
  readonly viewerClips: boolean;
  readonly showViewers?: boolean | undefined;
  readonly viewers?: number | undefined;
  readonly startsAtMs?: number | undefined;
  /** The server's time, for the latency display. */
  readonly nowMs: number;
}

interface PageValues extends PlayerValues {
  /** HTML for the head. */
  readonly meta: string;
  /** The multivariant playlist for this viewer; undefined while nothing can be played. */
  readonly playlist: string | undefined;
  readonly basePath: string;
}

export function describeLivePlayer(values: PlayerValues): LivePlayerState {
  const { liveStreamId, access, theme, ultraLowLatency, viewerClips, hasThumbnail } = values;
  const session = access?.avh === undefined ? '' : `?${sessionQuery(access)}`;
  const root = access === undefined ? '' : `/private/${access.token}`;
  return {
    liveStreamId,
    title: streamTitle(values.name),
    ...(JSON.parse(values.state) as Pick<LivePlayerState, 'live' | 'broadcastId'>),
    hls: `${root}/${liveStreamId}.m3u8${session}`,
    query: access === undefined ? '' : `${session === '' ? '?' : `${session}&`}token=${access.token}`,
    poster: `${root}/${liveStreamId}/thumbnail.jpg${session}`,
    hasThumbnail,
    theme: theme ?? null,
    ultraLowLatency,
    viewerClips,
    ...(values.showViewers === true ? { showViewers: true } : {}),
    viewers: values.viewers,
    startsAtMs: values.startsAtMs,
    serverTimeMs: values.nowMs,
  };
}

export function renderPlayerPage(template: string, values: PageValues): string {
  const player = describeLivePlayer(values);
  return fillTemplate(template, {
    meta: values.meta,
    playlists: preloads(values.basePath + player.hls, values),
    title: escapeHtml(player.title),
    state: escapeHtml(JSON.stringify(player)),
  });
}

/** Viewers who chose ultra low latency need no playlist. */
function preloads(hls: string, { playlist, ultraLowLatency }: PageValues): string {
  if (playlist === undefined || ultraLowLatency) return '';
  return playlistsToPreload(hls, playlist).map(preload).join('');
}

/** `crossorigin` as XMLHttpRequest, which takes the response. */
function preload(url: string): string {
  return `<link rel="preload" as="fetch" crossorigin href="${escapeHtml(url)}">\n`;
}

export function streamTitle(name: string): string {
  return name.trim() === '' ? 'Live stream' : name;
}
