import type { LiveStoryboard } from '../live/live-storyboard.ts';
import type { AudioControl } from '../media/audio-control.ts';
import type { AudioTracks } from '../media/audio-tracks.ts';
import type { Captions } from '../media/captions.ts';
import type { PlaybackIntent } from '../media/playback-intent.ts';
import type { PlayerSettings } from '../media/player-settings.ts';
import type { Refusal } from '../media/refusal.ts';
import type { PlayerTheme } from '../theme/player-theme.ts';
import type { VodOptions } from '../vod/vod-options.ts';
import type { PlayerAddress } from './player-address.ts';
import type { PlayerClips, PlayerDetails, PlayerLatency, PlayerPhase } from './player-media.ts';

export interface SourceQuality {
  readonly label: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
}

/** A text track whose cues the player makes. */
export interface SourceCues {
  /** WebVTT files; undefined without any. */
  readonly chapters: string | undefined;
  readonly storyboard: string | undefined;
}

/** Parts that a source is made of. */
export interface SourceContext {
  readonly address: PlayerAddress;
  /** The server's answer about {@link address}, unchecked. */
  readonly state: unknown;
  /** When the state arrived, by the viewer's clock. */
  readonly arrivedAtMs: number;
  readonly video: HTMLVideoElement;
  readonly options: VodOptions;
  readonly settings: PlayerSettings;
  /** Ends the source. */
  readonly signal: AbortSignal;
  onChange(): void;
  /** {@link PlayerSource.storyboard} has more frames. */
  onFrames(): void;
}

/** A live stream or a video that the player element plays: the engine behind `PlayerMedia`. */
export interface PlayerSource {
  readonly phase: PlayerPhase;
  readonly refusal: Refusal | undefined;
  readonly isReachable: boolean;
  readonly isSourceStalled: boolean;
  readonly details: Omit<PlayerDetails, 'isAudioOnly' | 'colors' | 'logo'>;
  readonly theme: PlayerTheme | undefined;
  readonly latency: PlayerLatency | undefined;
  readonly clips: PlayerClips | undefined;
  readonly playing: PlaybackIntent;
  readonly audio: AudioControl;
  readonly captions: Captions;
  readonly audioTracks: AudioTracks;
  readonly cues: SourceCues;
  /** Undefined where `cues` have the frames of the seek bar. */
  readonly storyboard?: LiveStoryboard;
  /** Undefined where another one plays, such as WebRTC. */
  readonly qualities: readonly SourceQuality[];
  /** Undefined for Auto. */
  readonly chosenQuality: string | undefined;
  readonly activeQuality: string | undefined;
  readonly hasBegun: boolean;
  readonly isAtEnd: boolean;
  readonly isGrowing: boolean;
  readonly availableSeconds: number;
  /** Infinite for live streams, 0 while unknown. */
  readonly totalSeconds: number;
  /** Range that viewers of a live stream can rewind; undefined for videos. */
  readonly rewindRange: { readonly start: number; readonly end: number } | undefined;
  readonly isAtLiveEdge: boolean;
  readonly rate: number;
  isLooping: boolean;
  start(): void;
  end(): void;
  play(): void;
  pause(): void;
  seekTo(seconds: number): void;
  seekBy(seconds: number): void;
  seekToFraction(part: number): void;
  goToLive(): void;
  setRate(rate: number, isRemembered?: boolean): void;
  stepRate(steps: 1 | -1): number;
  stepFrame(steps: 1 | -1): void;
  chooseQuality(label: string | undefined): void;
  dateAt(seconds: number): Date | undefined;
}
