/**
 * The contract between the media element of the player and its controls. `millrace-video` implements it, and controls talk to
 * nothing else.
 */

import type { Phase } from '../live/live-session.ts';
import type { StoryboardFrame } from '../live/live-storyboard.ts';
import type { WebRtcProblem } from '../live/webrtc-media.ts';
import type { Refusal } from '../media/refusal.ts';
import type { VodPhase } from '../vod/vod-session.ts';

/** Fired on the media element when {@link PlayerMediaState}, its media or the wish to play changes. */
export const changeEvent = 'millracechange';

/** Fired on the media element when {@link PlayerMedia.frameAt} has more frames. */
export const framesEvent = 'millraceframes';

/** `loading` also while the element asks the server what its address is. */
export type PlayerPhase = Phase | VodPhase;

/** Addresses are absolute. */
export interface PlayerDetails {
  readonly kind: 'live' | 'video';
  readonly id: string;
  readonly title: string;
  /** Undefined without a thumbnail. */
  readonly poster: string | undefined;
  /** Page on which viewers watch it, without a token. */
  readonly pageUrl: string;
  /** Page for an iframe. */
  readonly embedUrl: string;
  /** An MP4 file; undefined where downloads are turned off. */
  readonly downloadUrl: string | undefined;
  /** Known before the media is loaded. Undefined for live streams. */
  readonly durationSeconds: number | undefined;
  /** Display size in pixels; undefined while unknown. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
  /** Undefined where the owner shows no viewer count. */
  readonly viewers: number | undefined;
  /** Planned start of a live stream. */
  readonly startsAtMs?: number | undefined;
  /** Plays after it. */
  readonly next: PlayerNext | undefined;
  readonly logo: { readonly src: string; readonly link: string | undefined } | undefined;
  /** The media that plays has no video. */
  readonly isAudioOnly: boolean;
  /** Colors of the theme by their names in the API, such as `trackPlayed`. */
  readonly colors: Readonly<Record<string, string>>;
}

export interface PlayerNext {
  readonly title: string;
  /** Becomes `src` of the player. */
  readonly url: string;
  readonly poster: string | undefined;
}

/** Media of a playlist, before it plays. */
export interface PlayerEntry {
  readonly title: string;
  readonly poster: string | undefined;
  readonly durationSeconds: number | undefined;
  /** A live stream that is live. */
  readonly isLive: boolean;
}

/** Latency of a live stream. */
export interface PlayerLatency {
  /** False where the server or the browser cannot. */
  readonly hasUltraLow: boolean;
  readonly isUltraLow: boolean;
  /** Why ultra low latency did not work: the server listens on loopback only, or the browser has no H.264 for WebRTC. */
  readonly problem: WebRtcProblem | undefined;
  chooseUltraLow(isWanted: boolean): void;
  /** Latency from the server to the screen; undefined without a frame. */
  seconds(): number | undefined;
}

export interface PlayerClips {
  readonly canClip: boolean;
  /** Turns the seconds that the viewer has just seen into a video. Never rejects. */
  create(lastSeconds: number): Promise<PlayerClip>;
}

export type PlayerClip =
  /** `isPrivate`: the link works for one viewer only. */
  { readonly url: string; readonly isPrivate: boolean } | { readonly problem: ClipProblem };

export type ClipProblem = 'too-many' | 'too-soon' | 'failed' | 'unreachable';

/** State that controls show beside the media. */
export interface PlayerMediaState {
  readonly phase: PlayerPhase;
  /** The server's text for the viewer, in the phase `refused`. */
  readonly refusalReason: string | undefined;
  /** Why, where the server tells it: there is a text in the viewer's language. */
  readonly refusalKind: Refusal['kind'];
  /** False while the server does not answer. Playback goes on by itself. */
  readonly isReachable: boolean;
  /** The publisher of the live stream sends nothing. */
  readonly isSourceStalled: boolean;
  /** Undefined until the server has told. */
  readonly details: PlayerDetails | undefined;
  /** Undefined for videos. */
  readonly latency: PlayerLatency | undefined;
  /** Undefined where viewers cannot clip. */
  readonly clips: PlayerClips | undefined;
  /** True while the viewer wants to watch, also before there is media. `paused` is its opposite. */
  readonly wantsToPlay: boolean;
  /** The browser allowed autoplay without audio only. Offer "Turn sound on". */
  readonly isMutedByAutoplay: boolean;
  /** A frame was shown, or the viewer has sought. */
  readonly hasBegun: boolean;
  /** Playback is at the end of the video, or of its range. `play()` starts again. */
  readonly isAtEnd: boolean;
  /** The video is still being processed: `availableSeconds` of `details.durationSeconds` can be played. */
  readonly isGrowing: boolean;
  readonly availableSeconds: number;
  /** Follows the broadcast: nothing to go to. */
  readonly isAtLiveEdge: boolean;
  /** The label of the rendition that plays, such as `720p`; undefined while unknown. */
  readonly activeQuality: string | undefined;
}

/** A rendition, as `media-tracks` has it, with our label. */
export interface PlayerRendition {
  readonly id: string;
  readonly label: string;
  readonly width: number;
  readonly height: number;
  readonly bitrate: number;
  readonly selected: boolean;
}

export interface PlayerRenditionList extends EventTarget {
  readonly length: number;
  readonly [index: number]: PlayerRendition;
  [Symbol.iterator](): IterableIterator<PlayerRendition>;
  /** -1 is Auto. */
  selectedIndex: number;
}

/** An audio rendition. Setting `enabled` chooses it. */
export interface PlayerAudioTrack {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly language: string;
  enabled: boolean;
}

export interface PlayerAudioTrackList extends EventTarget {
  readonly length: number;
  readonly [index: number]: PlayerAudioTrack;
  [Symbol.iterator](): IterableIterator<PlayerAudioTrack>;
}

/**
 * The surface of `HTMLVideoElement`, the extensions that media-chrome reads, and our own. Setting `currentTime`, `muted`, `volume`,
 * `playbackRate` and `loop` applies our rules: storage, the ends of what can be watched, following the broadcast.
 *
 * `textTracks` has the captions and subtitles, one of kind `chapters`, and one of kind `metadata` with the label `thumbnails`, whose cues
 * have absolute addresses with `#xywh=`. The frames of live streams come from `frameAt`.
 */
export interface PlayerMedia extends HTMLVideoElement, PlayerMediaState {
  readonly streamType: 'live' | 'on-demand' | 'unknown';
  /** NaN without rewind, else infinite. */
  readonly targetLiveWindow: number;
  readonly liveEdgeStart: number;
  readonly videoRenditions: PlayerRenditionList;
  readonly audioTracks: PlayerAudioTrackList;
  /** Moves to the newest media, and plays. */
  goToLive(): void;
  /** Pauses, and moves by one frame. */
  stepFrame(steps: 1 | -1): void;
  /** Moves by some seconds. In ultra low latency, going back switches to HLS. */
  seekBy(seconds: number): void;
  /** 0 is the start or the oldest live position, 1 the end or the live edge. */
  seekToFraction(part: number): void;
  /** Changes the rate to the next of the menu. @returns the rate then */
  stepRate(steps: 1 | -1): number;
  /** @returns whether captions are shown then; undefined without captions */
  toggleCaptions(): boolean | undefined;
  /** Shows one of `textTracks`, or none, and remembers the choice. */
  chooseCaptions(track: TextTrack | undefined): void;
  /** Wall-clock time of a position of a live stream; undefined while unknown. */
  dateAt(seconds: number): Date | undefined;
  /** Describes other media. Undefined when its server does not tell. */
  describe(url: string): Promise<PlayerEntry | undefined>;
  /** Frame of a live stream for the seek bar. Loads it if it is undefined. */
  frameAt(seconds: number): StoryboardFrame | undefined;
}
