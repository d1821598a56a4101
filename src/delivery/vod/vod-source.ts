import type { PlaybackPolicy, ViewerLimits } from '../../shared/playback-policy.ts';
import type { CompressedText } from '../../shared/text/rendered-text.ts';
import type { MediaResponse, PlaylistResponse, ResponseBody } from '../../shared/viewer-responses.ts';
import type { PlayerTheme } from '../pages/player-theme.ts';

/** `version` changes with each uploaded file. */
export interface VodTextTrack {
  readonly language: string;
  readonly label: string;
  readonly isDefault: boolean;
  readonly version?: string;
}

export interface VodEntry {
  readonly videoId: string;
  readonly projectId: string;
  readonly title: string;
  readonly public: boolean;
  /** True when it is in the channel of the project. */
  readonly listed: boolean;
  readonly isSandbox: boolean;
  readonly policy: PlaybackPolicy | undefined;
  readonly limits: ViewerLimits | undefined;
  /** Id of the video or live stream that it is a clip of. */
  readonly clippedFrom: string | undefined;
  readonly mp4Support: boolean;
  readonly panoramic: boolean;
  readonly isPlayable: boolean;
  readonly hasFailed: boolean;
  readonly hasStoryboard: boolean;
  readonly durationSeconds: number | undefined;
  /** Display size in pixels; undefined until it is known, and for audio only. */
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly revision: number;
  /** Loaded for a page, unlike the fields above: segments do not need these three. */
  captions(): Promise<readonly VodTextTrack[]>;
  chapters(): Promise<readonly VodTextTrack[]>;
  theme(): Promise<PlayerTheme | undefined>;
}

export type VodFile = 'mp4' | 'thumbnail' | 'storyboard.jpg' | 'storyboard.vtt';

/** Missing things are undefined. */
export interface VodSource {
  /** Excludes discarded videos. */
  find(videoId: string): Promise<VodEntry | undefined>;
  /** Undefined while nothing is playable. `avh` is a session for all URIs. */
  multivariant(
    videoId: string,
    captions: readonly VodTextTrack[],
    avh?: string,
  ): Promise<CompressedText | undefined>;
  captionsPlaylist(language: string, durationSeconds: number, avh?: string): CompressedText | undefined;
  /** `rendition` is a quality such as `720p` or `av1-720p`, or `audio`. */
  mediaPlaylist(videoId: string, rendition: string, avh?: string): Promise<PlaylistResponse | undefined>;
  media(videoId: string, rendition: string, name: string): Promise<MediaResponse | undefined>;
  /** `quality` selects the MP4 of one rendition; the highest unless given. */
  file(videoId: string, file: VodFile, quality?: string): Promise<ResponseBody | undefined>;
  /** A temporary address of the MP4 that does without this server, undefined when there is none. */
  downloadUrl(
    videoId: string,
    quality: string | undefined,
    options: { readonly expiresSeconds: number; readonly contentDisposition: string },
  ): Promise<string | undefined>;
  textTrack(
    videoId: string,
    track: 'captions' | 'chapters',
    language: string,
  ): Promise<ResponseBody | undefined>;
}
