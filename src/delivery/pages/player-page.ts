import { fillTemplate } from '../../http/pages/browser-text.ts';
import { escapeHtml } from '../../shared/escape-html.ts';
import { type PrivateAccess, sessionQuery } from '../private-sessions.ts';
import type { PlayerTheme } from './player-theme.ts';
import { playlistsToPreload } from './playlist-preloads.ts';

export const noIndexMeta = '<meta name="robots" content="noindex">';

interface PageValues {
  readonly liveStreamId: string;
  /** Unescaped. */
  readonly name: string;
  /** HTML for the head. */
  readonly meta: string;
  /** JSON as of `/live/{liveStreamId}/state`. */
  readonly state: string;
  /** The multivariant playlist for this viewer; undefined while nothing can be played. */
  readonly playlist: string | undefined;
  readonly hasThumbnail: boolean;
  readonly access: PrivateAccess | undefined;
  readonly theme: PlayerTheme | undefined;
  readonly ultraLowLatency: boolean;
  readonly viewerClips: boolean;
  readonly basePath: string;
  /** The server's time, for the latency display. */
  readonly nowMs: number;
}

export function renderPlayerPage(template: string, values: PageValues): string {
  const { liveStreamId, access } = values;
  const session = access?.avh === undefined ? '' : `?${sessionQuery(access)}`;
  const root = values.basePath + (access === undefined ? '' : `/private/${access.token}`);
  const hls = `${root}/${liveStreamId}.m3u8${session}`;
  const thumbnail = escapeHtml(`${root}/${liveStreamId}/thumbnail.jpg${session}`);
  return fillTemplate(template, {
    meta: values.meta,
    hls: escapeHtml(hls),
    playlists: preloads(hls, values),
    query: escapeHtml(
      access === undefined ? '' : `${session === '' ? '?' : `${session}&`}token=${access.token}`,
    ),
    title: escapeHtml(streamTitle(values.name)),
    streamId: liveStreamId,
    backdrop: values.hasThumbnail ? `<img class="backdrop" src="${thumbnail}" alt="">` : '',
    artwork: values.hasThumbnail ? `<img class="poster" src="${thumbnail}" alt="">` : '',
    state: escapeHtml(values.state),
    theme: escapeHtml(JSON.stringify(values.theme ?? null)),
    ultraLowLatency: String(values.ultraLowLatency),
    viewerClips: String(values.viewerClips),
    serverTimeMs: String(values.nowMs),
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
