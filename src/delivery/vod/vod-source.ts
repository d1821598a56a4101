import type { CompressedText } from '../../shared/text/rendered-text.ts';
import type { MediaResponse, PlaylistResponse, ResponseBody } from '../../shared/viewer-responses.ts';
import type { PlayerTheme } from '../pages/player-theme.ts';

/** A text track of a video. `version`: another one with each file that was uploaded for it. */
export interface VodTextTrack {
  readonly language: string;
  readonly label: string;
  readonly isDefault: boolean;
  readonly version?: string;
}

/** What is to be known of a video before anything of it is sent. */
export interface VodEntry {
  readonly videoId: string;
  readonly projectId: string;
  readonly title: string;
  readonly public: boolean;
  readonly mp4Support: boolean;
  readonly panoramic: boolean;
  readonly isPlayable: boolean;
  /** Nothing playable can come of what was uploaded. */
  readonly hasFailed: boolean;
  readonly hasStoryboard: boolean;
  readonly durationSeconds: number | undefined;
  /** Shown picture in pixels; undefined until it is known, and for sound alone. */
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** Grows whenever what viewers get changes. */
  readonly revision: number;
  /** May be looked up when they are asked for, as the two below: segments do without. */
  readonly captions: readonly VodTextTrack[];
  readonly chapters: readonly VodTextTrack[];
  readonly theme: PlayerTheme | undefined;
}

/** Files that a video may have beside its HLS. */
export type VodFile = 'mp4' | 'thumbnail' | 'storyboard.jpg' | 'storyboard.vtt';

/** What delivery asks about videos. Whatever is not there is undefined. */
export interface VodSource {
  /** A video that is not discarded, whosever it is. */
  find(videoId: string): VodEntry | undefined;
  /** The multivariant playlist; undefined while nothing is playable. `avh`: session to carry in all URIs. */
  multivariant(
    videoId: string,
    captions: readonly VodTextTrack[],
    avh?: string,
  ): Promise<CompressedText | undefined>;
  /** The media playlist of captions that the video has. `language` as the track has it. */
  captionsPlaylist(language: string, durationSeconds: number, avh?: string): CompressedText | undefined;
  /** `rendition`: a quality such as `720p`, or `audio`. */
  mediaPlaylist(videoId: string, rendition: string, avh?: string): Promise<PlaylistResponse | undefined>;
  /** An init section or a segment by its name in the media playlist. */
  media(videoId: string, rendition: string, name: string): Promise<MediaResponse | undefined>;
  /** `quality`: for the mp4 of one rung; the highest unless given. */
  file(videoId: string, file: VodFile, quality?: string): Promise<ResponseBody | undefined>;
  /** The WebVTT file of a text track, as it was uploaded. `language` in any case. */
  textTrack(videoId: string, track: 'captions' | 'chapters', language: string): ResponseBody | undefined;
}
