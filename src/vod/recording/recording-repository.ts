import type { StopReason } from './recording-writer.ts';

export interface NewRecording {
  readonly videoId: string;
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly startedAtMs: number;
}

/** A crash loses no open recording. Its settings are those of the live stream at the close. */
export interface RecordingRepository {
  /** Returns false when the live stream was deleted. */
  open(recording: NewRecording): boolean;
  isOpen(videoId: string): boolean;
  close(videoId: string): void;
  unfinished(): NewRecording[];
  /** `sourceBytes`: undefined while the source must still be joined. */
  convertToVideo(recording: NewRecording, sourceBytes: number | undefined, atMs: number): void;
  sourceReady(videoId: string, sourceBytes: number, atMs: number): boolean;
  sourceFailed(videoId: string, failure: string, atMs: number): void;
  remove(videoId: string): void;
  appendStoppedEvent(
    recording: NewRecording,
    stop: { readonly reason: StopReason; readonly videoId: string | undefined },
    atMs: number,
  ): void;
  transaction(work: () => void): void;
}
