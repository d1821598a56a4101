import type { CaptionFile } from '../media/caption-file.ts';
import { asRecord, asText, type PlayerTheme, parseTheme } from '../theme/player-theme.ts';

/** Addresses begin with the base of {@link parseVodState}. */
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
  /** Plays after it, on a watch page. */
  readonly next:
    | { readonly title: string; readonly url: string; readonly poster: string | undefined }
    | undefined;
  /** Grows with every change for viewers. */
  readonly revision: number;
}

/**
 * @param base begins the addresses: the base path or URL of the server
 * @throws Error when the JSON is not a state
 */
export function parseVodState(json: string, base: string): VodState {
  const asAddress = (path: unknown) => addressOf(path, base);
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
    captions: asTracks(value.captions, base),
    chapters: asTracks(value.chapters, base),
    theme: parseTheme(value.theme, base),
    next: asNext(value.next, base),
    revision: asPositive(value.revision) ?? 0,
  };
}

/** The state is next to the HLS files, under the same token. */
export function stateUrl(state: VodState): string {
  return state.hls.replace(/\/hls\/manifest\.m3u8/, '/state');
}

/** The same without the token and the session of a private video. */
export function publicStateUrl(state: VodState): string {
  const [address = ''] = stateUrl(state).split('?');
  return address.replace(/\/token\/[^/]+\/state$/, '/state');
}

function asTracks(value: unknown, base: string): CaptionFile[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap(item => {
    const track = asRecord(item);
    const language = asText(track?.language);
    const src = addressOf(track?.src, base);
    if (language === undefined || src === undefined) return [];
    return [{ language, src, label: asText(track?.label) ?? language, default: track?.default === true }];
  });
}

function asNext(value: unknown, base: string): VodState['next'] {
  const next = asRecord(value);
  const url = addressOf(next?.path, base);
  return url === undefined
    ? undefined
    : { title: asText(next?.title) ?? '', url, poster: addressOf(next?.poster, base) };
}

function addressOf(value: unknown, base: string): string | undefined {
  const path = asText(value);
  return path && base + path;
}

function asPositive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}
