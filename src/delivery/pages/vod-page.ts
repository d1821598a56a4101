import { fillTemplate } from '../../http/pages/browser-text.ts';
import { escapeHtml } from '../../shared/escape-html.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { VodEntry, VodTextTrack } from '../vod/vod-source.ts';
import type { PlayerTheme } from './player-theme.ts';

interface VodPageTrack {
  readonly language: string;
  readonly label: string;
  readonly src: string;
  readonly default: boolean;
}

/** The player page also polls it at `/vod/{videoId}/state`. URLs are paths of this server, without the base path. */
export interface VodPageState {
  readonly videoId: string;
  readonly title: string;
  readonly playable: boolean;
  readonly failed: boolean;
  /** Seconds. */
  readonly duration: number | null;
  /** Display size in pixels. */
  readonly width: number | null;
  readonly height: number | null;
  readonly hls: string;
  /** Null where MP4 is turned off or not encoded yet. */
  readonly mp4: string | null;
  readonly poster: string;
  readonly hasThumbnail: boolean;
  readonly storyboard: string | null;
  readonly panoramic: boolean;
  readonly captions: readonly VodPageTrack[];
  readonly chapters: readonly VodPageTrack[];
  readonly theme: PlayerTheme | null;
  readonly revision: number;
}

function vodAssetPath(videoId: string, asset: string, access?: PrivateAccess): string {
  if (access === undefined) return `/vod/${videoId}/${asset}`;
  const path = `/vod/${videoId}/token/${access.token}/${asset}`;
  return access.avh === undefined ? path : `${path}?avh=${access.avh}`;
}

interface VodPageExtras {
  readonly hasMp4: boolean;
  readonly hasThumbnail: boolean;
  readonly captions: readonly VodTextTrack[];
  readonly chapters: readonly VodTextTrack[];
  readonly theme: PlayerTheme | undefined;
}

export function describeVideo(
  entry: VodEntry,
  { hasMp4, hasThumbnail, captions, chapters, theme }: VodPageExtras,
  access?: PrivateAccess,
): VodPageState {
  const pathOf = (asset: string) => vodAssetPath(entry.videoId, asset, access);
  const tracksOf = (tracks: readonly VodTextTrack[], folder: string): VodPageTrack[] =>
    tracks.map(({ language, label, isDefault, version }) => ({
      language,
      label,
      src: withVersion(pathOf(`${folder}/${encodeURIComponent(language)}.vtt`), version),
      default: isDefault,
    }));
  return {
    videoId: entry.videoId,
    title: entry.title,
    playable: entry.isPlayable,
    failed: entry.hasFailed,
    duration: entry.durationSeconds ?? null,
    width: entry.width ?? null,
    height: entry.height ?? null,
    hls: pathOf('hls/manifest.m3u8'),
    mp4: entry.mp4Support && hasMp4 ? pathOf('mp4/source.mp4') : null,
    poster: pathOf('thumbnail.jpg'),
    hasThumbnail,
    storyboard: entry.hasStoryboard ? pathOf('storyboard.vtt') : null,
    panoramic: entry.panoramic,
    captions: tracksOf(captions, 'captions'),
    chapters: tracksOf(chapters, 'chapters'),
    theme: theme ?? null,
    revision: entry.revision,
  };
}

/** Keeps a page from reusing its copy of a replaced file. */
function withVersion(path: string, version: string | undefined): string {
  return version === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}v=${version}`;
}

/** @param meta HTML for the head */
export function renderVodPage(
  template: string,
  state: VodPageState,
  { meta }: { readonly meta: string },
): string {
  return fillTemplate(template, {
    title: escapeHtml(titleOf(state)),
    playlists: '',
    state: escapeHtml(JSON.stringify(state)),
    meta,
  });
}

export function titleOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? 'Video' : title;
}
