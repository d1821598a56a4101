import type { CompressedText } from '../../shared/text/rendered-text.ts';
import type { MediaResponse, PlaylistRefusal, PlaylistResponse } from '../../shared/viewer-responses.ts';
import type { PlayerTheme } from '../pages/player-theme.ts';

/** One broadcast that viewers can play. */
export interface PlayableBroadcast {
  readonly broadcastId: string;
  /** Of the source's picture, in pixels; undefined where it has none. */
  readonly videoSize: { readonly width: number; readonly height: number } | undefined;
  /** The multivariant playlist; undefined before the first segment exists. */
  multivariant(): CompressedText | undefined;
  /**
   * The media playlist of a rendition (`source`, `audio`, or a quality such as `720p`); waits inside when `query` asks for a blocking
   * reload. `signal` aborts when nobody waits any more.
   */
  mediaPlaylist(
    rendition: string,
    query: URLSearchParams,
    signal: AbortSignal,
  ): Promise<PlaylistResponse | PlaylistRefusal>;
  /** An init section, segment or part by its name; waits for the hinted part. */
  media(
    rendition: string,
    name: string,
    signal: AbortSignal,
  ): Promise<MediaResponse | undefined> | MediaResponse | undefined;
}

/** What delivery asks of the live room. */
export interface LiveSource {
  /** The newest broadcast that can be played: live, or ended a short time ago. */
  current(liveStreamId: string): PlayableBroadcast | undefined;
  find(liveStreamId: string, broadcastId: string): PlayableBroadcast | undefined;
  state(liveStreamId: string): { readonly live: boolean; readonly broadcastId?: string };
  /** Calls `listener` at each change of `state`; the returned function ends that. */
  onStateChange(liveStreamId: string, listener: () => void): () => void;
}

/** What delivery asks about the stored live streams. */
export interface LiveStreamDirectory {
  find(
    liveStreamId: string,
  ): { readonly projectId: string; readonly name: string; readonly public: boolean } | undefined;
  /** File of the uploaded thumbnail, if there is one. */
  thumbnailPath(liveStreamId: string): string | undefined;
  /** How its page looks and behaves; undefined where the owner chose nothing. */
  theme?(liveStreamId: string): PlayerTheme | undefined;
}
