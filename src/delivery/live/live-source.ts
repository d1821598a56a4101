import type { PlaybackPolicy } from '../../shared/playback-policy.ts';
import type { CompressedText } from '../../shared/text/rendered-text.ts';
import type {
  MediaResponse,
  PlaylistRefusal,
  PlaylistResponse,
  ViewerSignal,
} from '../../shared/viewer-responses.ts';
import type { PlayerTheme } from '../pages/player-theme.ts';

export interface RewindWindow {
  /** Unix time of the oldest media; undefined before there is any. */
  readonly sinceMs: number | undefined;
  /** Older media is dropped. */
  readonly maxSeconds: number;
}

export interface PlayableBroadcast {
  readonly broadcastId: string;
  /** True when another server continues the broadcast. */
  readonly hasMoved?: boolean;
  /** Base address of the other server that packages it. */
  readonly mediaUrl?: string | undefined;
  /** Base address of that server itself, without a CDN in front of it. */
  readonly serverUrl?: string | undefined;
  /** Pixels; undefined without video. */
  readonly videoSize: { readonly width: number; readonly height: number } | undefined;
  /** Media that viewers can go back to; undefined on a server that does not package the broadcast. */
  readonly rewind?: RewindWindow | undefined;
  /** Undefined before the first segment exists. */
  multivariant(): CompressedText | undefined;
  /** `rendition`: `source`, `audio` or a quality such as `720p`. Blocks for delivery directives. */
  mediaPlaylist(
    rendition: string,
    query: URLSearchParams,
    signal: ViewerSignal,
  ): Promise<PlaylistResponse | PlaylistRefusal>;
  /** Returns an init section, segment or part by its name. Blocks for the hinted part. */
  media(
    rendition: string,
    name: string,
    signal: ViewerSignal,
  ): Promise<MediaResponse | undefined> | MediaResponse | undefined;
}

export interface LiveSource {
  /** Returns the newest broadcast that is live or ended a short time ago. */
  current(liveStreamId: string): PlayableBroadcast | undefined;
  find(liveStreamId: string, broadcastId: string): PlayableBroadcast | undefined;
  /** Base address of this server's media; undefined for the only server, whose viewers know it. */
  readonly mediaUrl?: string | undefined;
  /** Base address of the other server that packages the broadcast. */
  otherAddress?(liveStreamId: string, broadcastId: string): string | undefined;
  state(liveStreamId: string): { readonly live: boolean; readonly broadcastId?: string };
  onStateChange(liveStreamId: string, listener: () => void): () => void;
}

export interface LiveStreamDirectory {
  find(liveStreamId: string): Promise<
    | {
        readonly projectId: string;
        readonly name: string;
        readonly public: boolean;
        readonly ultraLowLatency: boolean;
        readonly viewerClips: boolean;
        /** True when it is in the channel of the project. */
        readonly listed: boolean;
        readonly showViewers: boolean;
        /** Planned start of the next broadcast. */
        readonly startsAtMs?: number | undefined;
        /** Start of the newest broadcast. */
        readonly lastStartedAtMs?: number | undefined;
        readonly isSandbox: boolean;
        readonly policy: PlaybackPolicy | undefined;
      }
    | undefined
  >;
  thumbnailPath(liveStreamId: string): Promise<string | undefined>;
  theme?(liveStreamId: string): Promise<PlayerTheme | undefined>;
}
