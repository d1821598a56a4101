import { withBasePath } from '../../shared/base-path.ts';
import type { CaptionFile } from '../media/caption-file.ts';
import { asRecord, asText, type PlayerTheme, parseTheme } from '../theme/player-theme.ts';

/** URLs are relative to this page. */
export interface VodState {
  readonly videoId: string;
  readonly title: string;
  readonly playable: boolean;
  readonly failed: boolean;
  /** Seconds. */
  readonly duration: number | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly hls: string;
  /** Undefined if downloads are turned off. */
  readonly mp4: string | undefined;
  readonly poster: string;
  /** False for the placeholder. */
  readonly hasThumbnail: boolean;
  readonly storyboard: string | undefined;
  readonly captions: readonly CaptionFile[];
  readonly chapters: readonly CaptionFile[];
  readonly theme: PlayerTheme | undefined;
  /** Grows with every change for viewers. */
  readonly revision: number;
}

/** @throws Error when the JSON is not a state */
export function parseVodState(json: string): VodState {
  const value = asRecord(JSON.parse(json));
  const hls = asAddress(value?.hls);
  if (value === undefined || hls === undefined) throw new Error('this is no state of a video');
  return {
    videoId: asText(value.videoId) ?? '',
    title: asText(value.title) ?? '',
    playable: value.playable === true,
    failed: value.failed === true,
    duration: asPositive(value.duration),
    width: asPositive(value.width),
    height: asPositive(value.height),
    hls,
    mp4: asAddress(value.mp4),
    poster: asAddress(value.poster) ?? '',
    hasThumbnail: value.hasThumbnail === true,
    storyboard: asAddress(value.storyboard),
    captions: asTracks(value.captions),
    chapters: asTracks(value.chapters),
    theme: parseTheme(value.theme),
    revision: asPositive(value.revision) ?? 0,
  };
}

/** The state is next to the HLS files, under the same token. */
export function stateUrl(state: VodState): string {
  return state.hls.replace(/\/hls\/manifest\.m3u8/, '/state');
}

function asTracks(value: unknown): CaptionFile[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap(item => {
    const track = asRecord(item);
    const language = asText(track?.language);
    const src = asAddress(track?.src);
    if (language === undefined || src === undefined) return [];
    return [{ language, src, label: asText(track?.label) ?? language, default: track?.default === true }];
  });
}

function asAddress(value: unknown): string | undefined {
  const path = asText(value);
  return path && withBasePath(path);
}

function asPositive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}
