import type { StopReason } from './recording-writer.ts';

export interface NewRecording {
  readonly videoId: string;
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly startedAtMs: number;
}

/**
 * Stores which recordings are open, so that a crash loses none. A video copies title, player theme and
 * visibility of the live stream when the recording is closed.
 */
export interface RecordingRepository {
  /** Returns false when the live stream was deleted. */
  open(recording: NewRecording): boolean;
  isOpen(videoId: string): boolean;
  close(videoId: string): void;
  unfinished(): NewRecording[];
  /** `sourceBytes`: undefined while the source must still be joined. */
  convertToVideo(recording: NewRecording, sourceBytes: number | undefined, atMs: number): void;
  /** Returns false when the video was deleted. */
  sourceReady(videoId: string, sourceBytes: number, atMs: number): boolean;
  /** `failure`: a sentence for the owner. */
  sourceFailed(videoId: string, failure: string, atMs: number): void;
  remove(videoId: string): void;
  /** `videoId`: the resulting video. */
  appendStoppedEvent(
    recording: NewRecording,
    stop: { readonly reason: StopReason; readonly videoId: string | undefined },
    atMs: number,
  ): void;
  transaction(work: () => void): void;
}
