import type { StopReason } from './recording-writer.ts';

/** A recording as it begins. */
export interface NewRecording {
  readonly videoId: string;
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly startedAtMs: number;
}

/**
 * Where recordings are written down: which are open, so that a crash loses none, and the videos that they become. A video takes its title,
 * its theme and who may see it from the live stream as that was when the recording was closed.
 */
export interface RecordingRepository {
  /** A recording begins; false, and nothing is written down, when its live stream is gone. */
  open(recording: NewRecording): boolean;
  /** Whether it is written down, and is not a video yet. */
  isOpen(videoId: string): boolean;
  /** It takes no more parts. */
  close(videoId: string): void;
  /** All that did not become videos yet. */
  unfinished(): NewRecording[];
  /**
   * It becomes a video, and is told of.
   *
   * @param sourceBytes length of its source; undefined while that is still to be put together
   */
  convertToVideo(recording: NewRecording, sourceBytes: number | undefined, atMs: number): void;
  /** The source of its video is put together; false when the video is gone. */
  sourceReady(videoId: string, sourceBytes: number, atMs: number): boolean;
  /** The source of its video will never be put together: `failure` says so to the owner. */
  sourceFailed(videoId: string, failure: string, atMs: number): void;
  /** Nothing of it is left. */
  remove(videoId: string): void;
  /** It was stopped before its broadcast ended; `videoId` of what became of it. */
  appendStoppedEvent(
    recording: NewRecording,
    stop: { readonly reason: StopReason; readonly videoId: string | undefined },
    atMs: number,
  ): void;
  /** All of `work` or nothing of it. */
  transaction(work: () => void): void;
}
