import { fillTemplate } from '../../http/pages/browser-text.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { PlayerTheme } from './player-theme.ts';

/** In the head of a page that shows nothing to others, and is not to be found. */
export const noIndexMeta = '<meta name="robots" content="noindex">';

/** What a live stream's page says before its script has run. */
export interface PageValues {
  /** An id of the right form. */
  readonly liveStreamId: string;
  /** Any text; it is escaped. */
  readonly name: string;
  /** HTML for the head, complete. */
  readonly meta: string;
  /** The state as JSON, as `/live/{liveStreamId}/state` answers it. */
  readonly state: string;
  /** Whether there is a thumbnail to show behind the text while the stream is offline. */
  readonly hasThumbnail: boolean;
  /** What its viewer came with; undefined for a public stream. */
  readonly access: PrivateAccess | undefined;
  /** How the page looks and behaves; undefined where the owner chose nothing. */
  readonly theme: PlayerTheme | undefined;
  /** The server's clock, for the latency readout. Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Fills the template of a live stream's page. */
export function renderPlayerPage(template: string, values: PageValues): string {
  const { liveStreamId, access } = values;
  const session = access === undefined ? '' : `?avh=${access.avh}`;
  const root = access === undefined ? '' : `/private/${access.token}`;
  const thumbnail = escapeHtml(`${root}/${liveStreamId}/thumbnail.jpg${session}`);
  return fillTemplate(template, {
    meta: values.meta,
    hls: escapeHtml(`${root}/${liveStreamId}.m3u8${session}`),
    query: escapeHtml(access === undefined ? '' : `${session}&token=${access.token}`),
    title: escapeHtml(streamTitle(values.name)),
    streamId: liveStreamId,
    backdrop: values.hasThumbnail ? `<img class="backdrop" src="${thumbnail}" alt="">` : '',
    artwork: values.hasThumbnail ? `<img class="poster" src="${thumbnail}" alt="">` : '',
    state: escapeHtml(values.state),
    theme: escapeHtml(JSON.stringify(values.theme ?? null)),
    serverTimeMs: String(values.nowMs),
  });
}

/** The title that people read; a live stream may have no name. */
export function streamTitle(name: string): string {
  return name.trim() === '' ? 'Live stream' : name;
}

/** Text as it may stand in HTML, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
