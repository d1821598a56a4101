import type { FileSlice } from '../../shared/files/file-slice.ts';
import type { PlayerTheme } from '../pages/player-theme.ts';

/** A text made once and handed to every viewer: as it is, and gzipped. `etag` is a quoted string. */
export interface RenderedText {
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

/** What became of a request for a media playlist. */
export type PlaylistResponse =
  | {
      readonly status: 200;
      readonly text: RenderedText;
      /** The request waited for the position that `_HLS_msn` names, so the answer may be cached longer than a plain reload. */
      readonly hasWaited: boolean;
      readonly targetDurationSeconds: number;
      /** The list has `EXT-X-ENDLIST` and will not change any more. */
      readonly ended: boolean;
    }
  | {
      readonly status: 400 | 404 | 503;
      /** One short sentence for a person. */
      readonly reason: string;
    };

/** What became of a request for an init section, a segment or a part. */
export type MediaResponse =
  | {
      readonly status: 200;
      /** The bytes, in order: at hand, shared by all viewers and never written to, or in files. */
      readonly body: readonly (Buffer | FileSlice)[];
      /** Sum of the lengths of `body`. */
      readonly bytes: number;
      readonly contentType: string;
      /** A quoted, strong entity tag. */
      readonly etag: string;
      /** How long the URL will keep naming these bytes. */
      readonly lifetimeSeconds: number;
    }
  | { readonly status: 404 };

/** One broadcast that viewers can play. */
export interface PlayableBroadcast {
  readonly broadcastId: string;
  /** Of the source's picture, in pixels; undefined where it has none. */
  readonly pictureSize: { readonly width: number; readonly height: number } | undefined;
  /** The multivariant playlist; undefined before the first segment exists. */
  multivariant(): RenderedText | undefined;
  /**
   * The media playlist of a rendition (`source`, `audio`, or a quality such as `720p`); waits inside when `query` asks for a blocking
   * reload. `signal` aborts when nobody waits any more.
   */
  mediaPlaylist(rendition: string, query: URLSearchParams, signal: AbortSignal): Promise<PlaylistResponse>;
  /** An init section, segment or part by its name; waits for the hinted part. */
  media(rendition: string, name: string, signal: AbortSignal): Promise<MediaResponse> | MediaResponse;
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
