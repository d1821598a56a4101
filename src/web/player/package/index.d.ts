/** State of what the player shows. */
export type PlayerPhase =
  | 'loading'
  | 'waiting'
  | 'starting'
  | 'live'
  | 'reconnecting'
  | 'ended'
  | 'refused'
  | 'unsupported'
  | 'processing'
  | 'ready'
  | 'failed'
  | 'missing';

export interface PlayerDetails {
  readonly kind: 'live' | 'video';
  readonly id: string;
  readonly title: string;
  readonly poster: string | undefined;
  /** Page on which viewers watch it. */
  readonly pageUrl: string;
  /** Page for an iframe. */
  readonly embedUrl: string;
  /** Undefined for live streams, and while it is unknown. */
  readonly durationSeconds: number | undefined;
}

/** The surface of `HTMLVideoElement`, and what the server tells about the media. */
export interface PlayerMedia extends HTMLVideoElement {
  readonly phase: PlayerPhase;
  /** Why this viewer may not play it, in the phase `refused`. */
  readonly refusalReason: string | undefined;
  readonly details: PlayerDetails | undefined;
  readonly streamType: 'live' | 'on-demand' | 'unknown';
  readonly isAtLiveEdge: boolean;
  /** Moves to the newest media, and plays. */
  goToLive(): void;
  seekBy(seconds: number): void;
}

/** `<millrace-player src="https://video.example.com/live/li…">` */
export interface MillracePlayerElement extends HTMLElement {
  /** Address of a live stream or a video of a Millrace server. Its query and fragment have the same effect as in an iframe. */
  src: string;
  /** Addresses, or ids on the server of `src`, that play one after the other. */
  playlist: readonly string[];
  readonly media: PlayerMedia;
  readonly paused: boolean;
  readonly ended: boolean;
  /** Seconds; infinite for live streams. */
  readonly duration: number;
  currentTime: number;
  volume: number;
  muted: boolean;
  playbackRate: number;
  loop: boolean;
  play(): Promise<void>;
  pause(): void;
}

/** Importing the module defines the element. */
export declare const MillracePlayer: new () => MillracePlayerElement;

declare global {
  interface HTMLElementTagNameMap {
    'millrace-player': MillracePlayerElement;
  }
}
