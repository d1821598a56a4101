import { fillTemplate } from '../../http/pages/browser-text.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { VodEntry, VodTextTrack } from '../vod/vod-source.ts';
import { escapeHtml } from './player-page.ts';
import type { PlayerTheme } from './player-theme.ts';

/** A text track as the page gets it. `src`: path of the WebVTT file. */
export interface VodPageTrack {
  readonly language: string;
  readonly label: string;
  readonly src: string;
  readonly default: boolean;
}

/** What the player page knows of its video: told with the page, and anew by `/vod/{videoId}/state`. Addresses are paths. */
export interface VodPageState {
  readonly videoId: string;
  readonly title: string;
  readonly playable: boolean;
  /** Nothing playable will come of what was uploaded. */
  readonly failed: boolean;
  /** Seconds; null until it is known. */
  readonly duration: number | null;
  /** Of the source's shown picture, in pixels. */
  readonly width: number | null;
  readonly height: number | null;
  readonly hls: string;
  /** Null where it is switched off or not made yet. */
  readonly mp4: string | null;
  readonly poster: string;
  /** True where the poster is an image of this video, and not the placeholder. */
  readonly hasThumbnail: boolean;
  readonly storyboard: string | null;
  readonly panoramic: boolean;
  readonly captions: readonly VodPageTrack[];
  readonly chapters: readonly VodPageTrack[];
  readonly theme: PlayerTheme | null;
  /** Grows whenever what viewers get changes. */
  readonly revision: number;
}

/** Path of a video's asset, such as `thumbnail.jpg`; with token and session where it is private. */
function vodAssetPath(videoId: string, asset: string, access?: PrivateAccess): string {
  return access === undefined
    ? `/vod/${videoId}/${asset}`
    : `/vod/${videoId}/token/${access.token}/${asset}?avh=${access.avh}`;
}

/** The files beside the HLS of a video that are there. */
export interface VodPageFiles {
  readonly hasMp4: boolean;
  readonly hasThumbnail: boolean;
}

/** Describes a video for its player page. */
export function describeVideo(
  entry: VodEntry,
  { hasMp4, hasThumbnail }: VodPageFiles,
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
    captions: tracksOf(entry.captions, 'captions'),
    chapters: tracksOf(entry.chapters, 'chapters'),
    theme: entry.theme ?? null,
    revision: entry.revision,
  };
}

/** The address under which a page takes in what is there now: what it has of the former one is of no use. */
function withVersion(path: string, version: string | undefined): string {
  return version === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}v=${version}`;
}

/** Fills the template of a video's page. @param meta HTML for the head, complete */
export function renderVodPage(template: string, state: VodPageState, meta: string): string {
  return fillTemplate(template, {
    title: escapeHtml(titleOf(state)),
    videoId: state.videoId,
    video: escapeHtml(JSON.stringify(state)),
    poster: escapeHtml(state.poster),
    meta,
  });
}

/** The title that people read; a video may have none. */
export function titleOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? 'Video' : title;
}
