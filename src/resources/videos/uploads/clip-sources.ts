import type { Transaction } from '../../../store/connection.ts';
import type { VideoAttributes } from '../videos/video.ts';
import type { ClipRange } from './clip-range.ts';

/** Copies parts of videos. */
export interface ClipSources {
  /** Undefined until the highest quality of the video can be played. */
  secondsOf(videoId: string): Promise<number | undefined>;
  /**
   * Copies a range of a video into a file.
   * @throws AppError `media-refused` when the video is gone
   */
  clipVideo(
    clip: { readonly videoId: string; readonly range: SecondsRange },
    target: ClipTarget,
    signal: AbortSignal,
  ): Promise<MadeClip>;
}

/** Copies parts of running broadcasts. */
export interface LiveClips {
  /**
   * Undefined when the project has no such live stream.
   * @throws AppError `live-stream-not-broadcasting`
   */
  find(projectId: string, liveStreamId: string): Promise<ClippableBroadcast | undefined>;
  /**
   * Lets the server that packages the broadcast create the video. Returns its id, and undefined for broadcasts of this
   * server. Undefined where there is only one server.
   */
  readonly createElsewhere?:
    | ((projectId: string, liveStreamId: string, attributes: VideoAttributes) => Promise<string | undefined>)
    | undefined;
}

export interface ClippableBroadcast {
  readonly startedAtMs: number;
  /** Range that can be clipped, from the start of the broadcast. */
  readonly available: ClipRange;
  /** Writes a clip as {@link ClipSources.clipVideo} does. */
  write(range: SecondsRange, target: ClipTarget, signal: AbortSignal): Promise<MadeClip>;
}

export interface ClipTarget {
  /** The new video. */
  readonly videoId: string;
  /** Path of the file. */
  readonly path: string;
  /**
   * True when the clip starts and ends at frames. Otherwise, it starts with the keyframe at its start or before.
   */
  readonly isExact: boolean;
}

interface SecondsRange {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

export interface MadeClip {
  readonly bytes: number;
  /** Time in the file before the start of the range. */
  readonly leadSeconds: number;
  /** False when the file is the clip itself. */
  readonly isEncoded: boolean;
  /** Call it when the file is the source of the video. */
  prepare(signal: AbortSignal): Promise<StoreClip>;
  /** Removes what was made beside the file. */
  discard(): Promise<void>;
}

/** Makes the video playable. Returns false when its source must be prepared like an upload. */
export type StoreClip = (transaction: Transaction) => Promise<boolean>;
