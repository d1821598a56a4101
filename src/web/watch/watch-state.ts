import { withBasePath } from '../shared/base-path.ts';

interface TextTrack {
  readonly language: string;
  readonly label: string;
  readonly src: string;
  readonly isDefault: boolean;
}

/** Texts and images of a video. */
export interface WatchedVideo {
  readonly title: string;
  readonly isPlayable: boolean;
  readonly stateUrl: string;
  readonly storyboard: string | undefined;
  readonly captions: readonly TextTrack[];
  readonly chapters: readonly TextTrack[];
}

type Fields = Readonly<Record<string, unknown>>;

/** @throws Error when the JSON is not a state of a video */
export function parseWatchedVideo(json: string): WatchedVideo {
  const value = JSON.parse(json) as Fields;
  return {
    title: String(value.title ?? ''),
    isPlayable: value.playable === true,
    // The state is beside the HLS files, under the same token.
    stateUrl: withBasePath(String(value.hls).replace('/hls/manifest.m3u8', '/state')),
    storyboard: typeof value.storyboard === 'string' ? withBasePath(value.storyboard) : undefined,
    captions: tracksOf(value.captions),
    chapters: tracksOf(value.chapters),
  };
}

export async function fetchWatchedVideo(url: string): Promise<WatchedVideo | undefined> {
  const response = await fetch(url);
  return response.ok ? parseWatchedVideo(await response.text()) : undefined;
}

/** The track in the language of the viewer, or else the owner's default. */
export function preferredTrack(tracks: readonly TextTrack[]): TextTrack | undefined {
  const [language] = navigator.language.split('-');
  return (
    tracks.find(track => track.language === navigator.language) ??
    tracks.find(track => track.language.split('-')[0] === language) ??
    tracks.find(({ isDefault }) => isDefault) ??
    tracks[0]
  );
}

function tracksOf(value: unknown): TextTrack[] {
  if (!Array.isArray(value)) return [];
  return (value as Fields[]).map(track => ({
    language: String(track.language),
    label: String(track.label),
    src: withBasePath(String(track.src)),
    isDefault: track.default === true,
  }));
}
