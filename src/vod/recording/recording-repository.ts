import type { StopReason } from './recording-writer.ts';

/** A recording of a broadcast. */
export interface NewRecording {
  readonly videoId: string;
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly startedAtMs: number;
}

/**
 * Stores which recordings are open, so that a crash loses none, and the videos that they become. A video copies title, player theme and
 * visibility of the live stream when the recording is closed.
 */
export interface RecordingRepository {
  /** Returns false when the live stream was deleted. */
  open(recording: NewRecording): boolean;
  /** Returns true until the recording becomes a video. */
  isOpen(videoId: string): boolean;
  /** Copies the settings of the live stream. */
  close(videoId: string): void;
  /** Returns all recordings that are not videos yet. */
  unfinished(): NewRecording[];
  /** Creates the video and its event. `sourceBytes`: undefined while the source must still be joined. */
  convertToVideo(recording: NewRecording, sourceBytes: number | undefined, atMs: number): void;
  /** Marks a joined source as complete. Returns false when the video was deleted. */
  sourceReady(videoId: string, sourceBytes: number, atMs: number): boolean;
  /** Marks the source as failed. `failure` is a sentence for the owner. */
  sourceFailed(videoId: string, failure: string, atMs: number): void;
  remove(videoId: string): void;
  /** Emits the event of a recording that stopped before its broadcast. `videoId`: the resulting video. */
  appendStoppedEvent(
    recording: NewRecording,
    stop: { readonly reason: StopReason; readonly videoId: string | undefined },
    atMs: number,
  ): void;
  transaction(work: () => void): void;
}
